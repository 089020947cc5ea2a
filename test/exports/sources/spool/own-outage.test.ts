import { expect, test } from 'vitest'
import { PAGE_RETRY, retryPage } from '../../../../src/exports/sources/ask/index.ts'
import { pageError } from '../../../../src/exports/sources/pages/index.ts'
import { gone, unreachable } from '../../../../src/exports/sources/sql/sql-error.ts'
import { AppError, ERRORS } from '../../../../src/kernel/index.ts'
import { PatientClock } from './patient-clock.ts'

const signal = new AbortController().signal
const system = (code: string) => Object.assign(new Error(`${code}: the system says no`), { code })

test.each([
  ['ENOSPC', 'STORAGE_FULL'],
  ['EDQUOT', 'STORAGE_FULL'],
  ['EIO', 'STORAGE_UNAVAILABLE'],
  ['EMFILE', 'STORAGE_UNAVAILABLE'],
  ['ENOMEM', 'STORAGE_UNAVAILABLE'],
])('%s is ours, whatever was asked of the source', (code, ours) => {
  const error = system(code)
  const wrapped = new Error('could not be kept', { cause: error })
  for (const said of [pageError(error, 3), pageError(wrapped, 3), unreachable(error), gone(error)])
    expect(said.code).toBe(ours)
  for (const said of [pageError(system('EHOSTUNREACH'), 3), gone(system('ECONNRESET'))])
    expect(said.code).toBe('SOURCE_UNREACHABLE')
})

test('a page that could not be kept is not asked for again, and no trouble of the source is told', async () => {
  let tries = 0
  const troubles: unknown[] = []
  const attempt = () => {
    tries++
    return Promise.reject(system('ENOSPC'))
  }
  const options = { ...PAGE_RETRY, onTrouble: (trouble: unknown) => troubles.push(trouble) }
  await expect(
    retryPage({ clock: new PatientClock() }, options, { page: 0, signal }, attempt),
  ).rejects.toMatchObject({ code: 'STORAGE_FULL' })
  expect([tries, troubles]).toEqual([1, []])
})

test('what holds up others is still the source’s', () => {
  const stalled = new AppError(ERRORS.SOURCE_STALLED, 'it sent nothing')
  expect(pageError(stalled, 2)).toMatchObject({ code: 'SOURCE_STALLED', message: 'page 2: it sent nothing' })
})
