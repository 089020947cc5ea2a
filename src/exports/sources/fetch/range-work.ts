import type { Made } from '../../threads/index.ts'
import type { ExpectedPage } from '../pages/index.ts'
import {
  type Flushed,
  RangeSpooler,
  type RangeSpoolerOptions,
  type RangeState,
  type Taken,
} from './range-spooler.ts'

export interface OpenTask {
  range: number
  options: RangeSpoolerOptions
  start: RangeState
}

export interface TakeTask {
  range: number
  /** The page is at its beginning, followed by its margin. */
  memory: ArrayBuffer
  length: number
  expected: ExpectedPage
}

/** The spoolers of the ranges that this thread has, from page to page. */
const spoolers = new Map<number, RangeSpooler>()

export function open({ range, options, start }: OpenTask): Made<void> {
  spoolers.set(range, new RangeSpooler(options, start))
  return { result: undefined }
}

/** The page's memory comes back to be used again. */
export async function take({
  range,
  memory,
  length,
  expected,
}: TakeTask): Promise<Made<{ taken: Taken; memory: ArrayBuffer }>> {
  const taken = await spoolers.get(range)!.take({ bytes: Buffer.from(memory), length }, expected)
  return { result: { taken, memory }, transfer: [memory] }
}

export async function flush(range: number): Promise<Made<Flushed>> {
  return { result: await spoolers.get(range)!.flush() }
}

export function close(range: number): Made<void> {
  spoolers.delete(range)
  return { result: undefined }
}
