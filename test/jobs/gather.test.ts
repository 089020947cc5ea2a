import { expect, test } from 'vitest'
import type { GatherOptions } from '../../src/jobs/gather.ts'
import { Gather } from '../../src/jobs/index.ts'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import { gate } from '../support/engines.ts'

/** Multiplies by ten; of 13 the whole batch breaks, of 0 the ledger is away, and less than nothing is refused. */
function setup(options: GatherOptions = {}) {
  const batches: number[][] = []
  const gather = new Gather<number, number>(async (items) => {
    batches.push(items)
    if (items.includes(13)) throw new Error('unlucky')
    if (items.includes(0)) throw new AppError(ERRORS.LEDGER_UNAVAILABLE, 'away')
    return items.map((item) => (item < 0 ? new AppError(ERRORS.FORBIDDEN, `${item}`) : item * 10))
  }, options)
  return { batches, gather }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a single call goes out alone, in the same turn of the event loop', async () => {
  const { batches, gather } = setup()
  const result = gather.add(1)
  await nextTurn()
  expect(batches).toEqual([[1]])
  expect(await result).toBe(10)
})

test('calls that come while enough are under way go out together, each with its own result', async () => {
  const { open, passed } = gate()
  const batches: number[][] = []
  const gather = new Gather<number, number>(
    async (items) => {
      batches.push(items)
      await passed
      return items.map((item) => item * 10)
    },
    { batches: 1, maxBatch: 2 },
  )
  const results: Promise<number>[] = []
  for (const item of [1, 2, 3, 4]) {
    results.push(gather.add(item))
    await nextTurn()
  }
  expect(batches).toEqual([[1]])
  open()
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40])
  expect(batches).toEqual([[1], [2, 3], [4]])
})

test('no more batches are under way than were asked for', async () => {
  const { open, passed } = gate()
  let underWay = 0
  const gather = new Gather<number, number>(
    async (items) => {
      underWay++
      await passed
      return items
    },
    { batches: 2, maxBatch: 1 },
  )
  const results = [1, 2, 3].map((item) => gather.add(item))
  await nextTurn()
  expect(underWay).toBe(2)
  open()
  expect(await Promise.all(results)).toEqual([1, 2, 3])
})

test('calls of one turn of the event loop go out together', async () => {
  const { batches, gather } = setup({ maxBatch: 2 })
  const results = [1, 2, 3].map((item) => gather.add(item))
  expect(await Promise.all(results)).toEqual([10, 20, 30])
  expect(batches).toEqual([[1, 2], [3]])
})

test('a call that is refused fails by itself', async () => {
  const { batches, gather } = setup()
  const [fine, refused] = await Promise.allSettled([gather.add(1), gather.add(-1)])
  expect(fine).toMatchObject({ value: 10 })
  expect(refused).toMatchObject({ reason: { code: 'FORBIDDEN' } })
  expect(batches).toEqual([[1, -1]])
})

test('a call that breaks its batch fails alone, and the next batch goes on', async () => {
  const { batches, gather } = setup({ batches: 1, maxBatch: 3 })
  const calls = await Promise.allSettled([1, 13, 2, 3].map((item) => gather.add(item)))
  expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(batches).toEqual([[1, 13, 2], [1], [13], [2], [3]])
})

test('while the ledger is away a batch is not tried again call by call', async () => {
  const { batches, gather } = setup()
  const calls = await Promise.allSettled([gather.add(0), gather.add(1)])
  for (const call of calls) expect(call).toMatchObject({ reason: { code: 'LEDGER_UNAVAILABLE' } })
  expect(batches).toEqual([[0, 1]])
})
