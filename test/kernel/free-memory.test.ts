import { expect, test } from 'vitest'
import { freeMemory } from '../../src/kernel/index.ts'

test('memory is given back with all that shares it, once', () => {
  const memory = new ArrayBuffer(8)
  const [one, other] = [new Uint8Array(memory, 0, 4), new Uint8Array(memory, 4)]
  freeMemory(one, other)
  freeMemory(one)
  expect([memory.detached, one.length, other.length]).toEqual([true, 0, 0])
})
