import { CHUNK_BYTES, damaged, headerOf, openRecord, RECORD_BYTES, sealRecord } from './sealed-format.ts'

/** The bytes of a file as they are stored. Holds one chunk: a record is sealed once it is known whether it is the last. */
export async function* sealBytes(
  bytes: AsyncIterable<Buffer>,
  { key, salt }: { key: Buffer; salt: Buffer },
): AsyncGenerator<Buffer> {
  yield headerOf(salt)
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let filled = 0
  let index = 0
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length; ) {
      if (filled === CHUNK_BYTES) {
        yield sealRecord(key, index++, false, chunk)
        filled = 0
      }
      const copied = piece.copy(chunk, filled, at)
      filled += copied
      at += copied
    }
  }
  yield sealRecord(key, index, true, chunk.subarray(0, filled))
}

export interface Records {
  key: Buffer
  /** Number of the first record that comes, and of the last one that is wanted. */
  first: number
  last: number
  /** How many the whole file has. */
  count: number
}

/** The chunks of the records that come; fails if one is wrong, or if one is missing at the end. */
export async function* openBytes(
  stored: AsyncIterable<Buffer>,
  { key, first, last, count }: Records,
): AsyncGenerator<Buffer> {
  let index = first
  const record = Buffer.allocUnsafeSlow(RECORD_BYTES)
  let filled = 0
  for await (const piece of stored) {
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(record, filled, at)
      filled += copied
      at += copied
      if (filled < RECORD_BYTES) continue
      if (index > last) throw damaged('it has more records than its size says')
      yield openRecord(key, index, index === count - 1, record)
      index++
      filled = 0
    }
  }
  if (filled > 0) {
    const chunk = openRecord(key, index++, true, record.subarray(0, filled))
    // Only an empty file has an empty record.
    if (chunk.length > 0) yield chunk
  }
  if (index !== last + 1) throw damaged(`it ends with record ${index - 1} of ${last}`)
}
