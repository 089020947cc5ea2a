/**
 * Between two peers, inside TLS. The child opens with one line of JSON, `{ticket, from, blocks}`, and then writes the
 * number of pieces it has (four bytes) now and then as it grows. The parent writes frames: index, length, the hashes of the
 * piece's blocks, bytes. An index of all ones carries the reason for a refusal instead of a piece.
 */
export interface PieceRequest {
  ticket: string
  from: number
  /** null: this piece and all that follow. Else N blocks of this one piece: a question about speed. */
  blocks: number | null
}

export const HEAD_BYTES = 8
export const ACK_BYTES = 4
export const REFUSAL = 0xffff_ffff
const MAX_REQUEST_BYTES = 16 * 1024
export const MAX_REFUSAL_BYTES = 1024

export function writeHead(into: Buffer, index: number, length: number): void {
  into.writeUInt32BE(index, 0)
  into.writeUInt32BE(length, 4)
}

export function refusalFrame(reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, MAX_REFUSAL_BYTES)
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  writeHead(head, REFUSAL, text.length)
  return Buffer.concat([head, text])
}

export function ackFrame(have: number): Buffer {
  const ack = Buffer.allocUnsafe(ACK_BYTES)
  ack.writeUInt32BE(have, 0)
  return ack
}

export function requestLine(request: PieceRequest): string {
  return `${JSON.stringify(request)}\n`
}

/** Undefined while the line is not complete; throws on anything that is not a request. */
export function readRequest(bytes: Buffer): PieceRequest | undefined {
  const end = bytes.indexOf(0x0a)
  if (end < 0) {
    if (bytes.length > MAX_REQUEST_BYTES) throw new Error('the request is too long')
    return undefined
  }
  const { ticket, from, blocks } = JSON.parse(bytes.toString('utf8', 0, end)) as PieceRequest
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
  if (typeof ticket !== 'string' || !isCount(from) || !(blocks === null || isCount(blocks)))
    throw new Error('the request is malformed')
  return { ticket, from, blocks }
}
