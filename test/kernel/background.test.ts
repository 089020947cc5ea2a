import { expect, test } from 'vitest'
import {
  AppError,
  awaitedLater,
  background,
  bestEffort,
  createLog,
  ERRORS,
  tellUnforeseenTo,
} from '../../src/kernel/index.ts'
import { unforeseenErrors } from '../../src/kernel/unforeseen.ts'
import { forgive } from '../support/no-unforeseen.ts'
import { until } from '../support/until.ts'

function setup() {
  const lines: { level: number; msg: string; err: { stack: string }; unforeseen?: number }[] = []
  tellUnforeseenTo(
    createLog({ level: 'warn', destination: { write: (line) => lines.push(JSON.parse(line)) } }),
  )
  return lines
}

test('background work that fails is told with its stack and counted', async () => {
  const lines = setup()
  const before = unforeseenErrors()
  background('counting sheep', Promise.reject(new TypeError('no sheep')))
  await until('it is told', () => lines.length > 0)
  expect(lines).toMatchObject([{ level: 50, msg: 'counting sheep: no sheep', unforeseen: before + 1 }])
  expect(lines[0]?.err.stack).toMatch(/^TypeError: no sheep\n {4}at .*background\.test/)
  expect(unforeseenErrors()).toBe(before + 1)
  forgive(1)
})

test('an error of the table is told, but it was foreseen', async () => {
  const lines = setup()
  background('recording', Promise.reject(new AppError(ERRORS.LEDGER_UNAVAILABLE, 'the ledger is away')))
  await until('it is told', () => lines.length > 0)
  expect(lines).toMatchObject([{ level: 40, msg: 'recording: the ledger is away' }])
  expect(lines[0]).not.toHaveProperty('unforeseen')
})

test('what is rejected without an error gets a stack all the same', async () => {
  const lines = setup()
  const before = unforeseenErrors()
  background('guessing', Promise.reject('nothing'))
  await until('it is told', () => lines.length > 0)
  expect(lines[0]?.err.stack).toContain('guessing: nothing')
  expect(unforeseenErrors()).toBe(before + 1)
  forgive(1)
})

test('a failure that is foreseen is dealt with, one while dealing with it is counted', async () => {
  const lines = setup()
  const before = unforeseenErrors()
  const seen: unknown[] = []
  bestEffort(Promise.reject('away'), (error) => seen.push(error))
  await until('it is dealt with', () => seen.length > 0)
  expect(seen).toEqual(['away'])
  expect(lines).toEqual([])
  bestEffort(Promise.reject('away'), () => {
    throw new TypeError('no sheep')
  })
  await until('it is told', () => lines.length > 0)
  expect(unforeseenErrors()).toBe(before + 1)
  forgive(1)
})

test('work that is awaited later fails then, and not before', async () => {
  const work = awaitedLater(Promise.reject(new TypeError('no sheep')))
  await new Promise(setImmediate)
  await expect(work).rejects.toThrow('no sheep')
})
