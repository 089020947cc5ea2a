import { expect, test } from 'vitest'
import { Gather } from '../../src/engine/gather.ts'
import { gate } from '../support/engines.ts'

function setup(options = {}) {
  const batches: number[][] = []
  const doors: (() => void)[] = []
  const gather = new Gather<number, number>(async (items) => {
    batches.push(items)
    const { open, passed } = gate()
    doors.push(open)
    await passed
    if (items.includes(13)) throw new Error('unlucky')
    return items.map((item) => item * 10)
  }, options)
  return { batches, doors, gather }
}

test('a single call goes out at once and alone', async () => {
  const { batches, doors, gather } = setup()
  const result = gather.add(1)
  expect(batches).toEqual([[1]])
  doors[0]?.()
  expect(await result).toBe(10)
})

test('calls that come while enough are under way go out together, each with its own result', async () => {
  const { batches, doors, gather } = setup({ batches: 1, maxBatch: 2 })
  const results = [1, 2, 3, 4].map((item) => gather.add(item))
  for (const count of [1, 2, 3]) {
    expect(batches).toHaveLength(count)
    doors[count - 1]?.()
    await results[Math.min(3, count * 2 - 2)]
    await Promise.resolve()
  }
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40])
  expect(batches).toEqual([[1], [2, 3], [4]])
})

test('a batch that fails fails its own calls, and the next one goes on', async () => {
  const { batches, doors, gather } = setup({ batches: 1 })
  const failing = gather.add(13)
  const next = gather.add(2)
  doors[0]?.()
  await expect(failing).rejects.toThrow('unlucky')
  await Promise.resolve()
  expect(batches).toEqual([[13], [2]])
  doors[1]?.()
  expect(await next).toBe(20)
})
