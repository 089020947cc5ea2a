/**
 * Between two peers, inside TLS. The child opens with one line of JSON, `{ticket, from, count}`, and then writes the
 * number of pieces it has (four bytes) whenever that grows. The parent writes frames: index, length, bytes. An index of
 * all ones carries the reason for a refusal instead of a piece.
 */
export interface PieceRequest {
  ticket: string
  from: number
  /** How many pieces at most; null: all that follow. */
  count: number | null
}

export const HEAD_BYTES = 8
export const ACK_BYTES = 4
export const REFUSAL = 0xffff_ffff
export const MAX_REQUEST_BYTES = 16 * 1024
export const MAX_REFUSAL_BYTES = 1024

export function frameHead(index: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head.writeUInt32BE(index, 0)
  head.writeUInt32BE(length, 4)
  return head
}

export function refusalFrame(reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, MAX_REFUSAL_BYTES)
  return Buffer.concat([frameHead(REFUSAL, text.length), text])
}

export function ackFrame(have: number): Buffer {
  const ack = Buffer.allocUnsafe(ACK_BYTES)
  ack.writeUInt32BE(have, 0)
  return ack
}

/** Undefined while the line is not complete; throws on anything that is not a request. */
export function readRequest(bytes: Buffer): { request: PieceRequest; rest: Buffer } | undefined {
  const end = bytes.indexOf(0x0a)
  if (end < 0) {
    if (bytes.length > MAX_REQUEST_BYTES) throw new Error('the request is too long')
    return undefined
  }
  const { ticket, from, count } = JSON.parse(bytes.toString('utf8', 0, end)) as PieceRequest
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
  if (typeof ticket !== 'string' || !isCount(from) || !(count === null || isCount(count)))
    throw new Error('the request is malformed')
  return { request: { ticket, from, count }, rest: bytes.subarray(end + 1) }
}
