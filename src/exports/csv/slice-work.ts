import { closeSync, openSync, readSync } from 'node:fs'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { Made } from '../threads/index.ts'
import { CsvEncoder, type CsvShape } from './csv-encoder.ts'

export interface CsvSliceTask {
  /** Whole records of a spool file. */
  path: string
  offset: number
  bytes: number
  shape: CsvShape
  labels: readonly string[]
  /** To write into, if it is large enough. */
  memory?: ArrayBuffer
}

export interface CsvSlice {
  memory: ArrayBuffer
  /** Bytes of CSV at the memory's beginning. */
  length: number
  records: number
}

/** CSV is a little shorter than its spool, unless there are row labels or many quotes. */
const ROOM = 64 * 1024

let input = new Uint8Array(0)
let encoder: { key: string; of: CsvEncoder } | undefined

/** A spool slice to CSV, in a thread. The encoder and the input's memory stay from slice to slice. */
export function encodeSlice({
  shape,
  labels,
  memory,
  ...slice
}: CsvSliceTask): Made<CsvSlice> & { transfer: ArrayBuffer[] } {
  const key = JSON.stringify([shape, labels])
  if (encoder?.key !== key) encoder = { key, of: new CsvEncoder(shape, labels) }
  const csv = encoder.of
  const before = csv.records
  let output = new Uint8Array(
    memory && memory.byteLength >= slice.bytes ? memory : new ArrayBuffer(slice.bytes + ROOM),
  )
  let length = 0
  try {
    const add = (bytes: Uint8Array) => {
      if (length + bytes.length > output.length) output = grown(output, length + bytes.length)
      output.set(bytes, length)
      length += bytes.length
    }
    for (const bytes of csv.push(read(slice))) add(bytes)
    for (const bytes of csv.end()) add(bytes)
  } catch (error) {
    encoder = undefined // it may hold a piece of a record
    throw error
  }
  return {
    result: { memory: output.buffer, length, records: csv.records - before },
    transfer: [output.buffer],
  }
}

function grown(output: Uint8Array<ArrayBuffer>, atLeast: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(atLeast, output.length * 1.5))
  larger.set(output)
  return larger
}

function read({ path, offset, bytes }: { path: string; offset: number; bytes: number }): Uint8Array {
  if (input.length < bytes) input = new Uint8Array(bytes)
  const file = openSync(path, 'r')
  try {
    for (let done = 0; done < bytes; ) {
      const count = readSync(file, input, done, bytes - done, offset + done)
      if (count === 0)
        throw new AppError(ERRORS.SPOOL_DAMAGED, 'the spool ends inside a slice', { retryable: false })
      done += count
    }
  } finally {
    closeSync(file)
  }
  return input.subarray(0, bytes)
}
