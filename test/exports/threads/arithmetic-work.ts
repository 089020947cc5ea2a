import { getHeapStatistics } from 'node:v8'
import type { Made } from '../../../src/exports/threads/index.ts'

let calls = 0

/** Halves numbers in place, where they are. */
export function halve(memory: ArrayBuffer): Made<{ memory: ArrayBuffer; calls: number }> {
  const numbers = new Float64Array(memory)
  for (const [index, number] of numbers.entries()) numbers[index] = number / 2
  calls++
  return { result: { memory, calls }, transfer: [memory] }
}

export function fail(error: { message: string; code?: string; retryable?: boolean }): never {
  const { message, ...fields } = error
  throw Object.assign(new Error(message), fields)
}

/** Ends the thread, as a failure that nobody foresaw would. */
export function crash(): Promise<never> {
  setImmediate(() => {
    throw new Error('crashed')
  })
  return new Promise(() => undefined)
}

/** Never ends by itself. Each turn is counted in the shared memory. */
export function spin(turns: SharedArrayBuffer): never {
  const counter = new Int32Array(turns)
  for (;;) Atomics.add(counter, 0, 1)
}

/** Ends the thread without an error. */
export function quit(): never {
  process.exit(0)
}

export function heapLimit(): Made<number> {
  return { result: getHeapStatistics().heap_size_limit }
}
