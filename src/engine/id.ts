import { randomBytes } from 'node:crypto'

let lastMs = 0
let counter = 0

/**
 * A UUID of version 7 (RFC 9562): sorted by time, and by the order of the calls within one process. New rows land at
 * the end of an index, and "first come" stays decidable within a millisecond.
 */
export function newId(): string {
  const ms = Math.max(Date.now(), lastMs)
  counter = ms === lastMs ? counter + 1 : 0
  lastMs = ms
  if (counter > 0xfff) {
    lastMs = ms + 1
    counter = 0
  }
  const bytes = randomBytes(16)
  bytes.writeUIntBE(lastMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | counter, 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
