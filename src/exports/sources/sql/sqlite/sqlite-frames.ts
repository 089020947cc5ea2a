import type { Readable } from 'node:stream'
import type { TextPage } from '../../pages/index.ts'

/** What the process that reads an SQLite file is asked, as one line of JSON on its standard input. */
export interface SqliteTask {
  path: string
  /** Null: only see whether the file can be read. */
  query: string | null
  params: readonly (string | number | boolean | null)[]
}

/** An error on its way out of that process; `code` is one of the table of errors. */
export interface SqliteFailure {
  code: 'QUERY_FAILED' | 'CONNECTION_REFUSED' | 'SOURCE_UNREACHABLE' | 'SOURCE_PAGE_TOO_LARGE'
  message: string
  retryable: boolean
}

export type SqliteFrame =
  | { kind: 'columns'; columns: { name: string; type: string | null }[] }
  | ({ kind: 'page' } & TextPage)
  | { kind: 'failure'; failure: SqliteFailure }
  | { kind: 'end' }

/** Before each frame: its kind, its number of rows, and its length in bytes. */
const FRAME_HEAD = 9
const KINDS = ['columns', 'page', 'failure', 'end'] as const

export function frameOf(kind: SqliteFrame['kind'], text = '', rows = 0): Buffer {
  const length = Buffer.byteLength(text)
  const frame = Buffer.allocUnsafe(FRAME_HEAD + length)
  frame.writeUInt8(KINDS.indexOf(kind), 0)
  frame.writeUInt32LE(rows, 1)
  frame.writeUInt32LE(length, 5)
  frame.write(text, FRAME_HEAD)
  return frame
}

/** The frames of a stream; it may end anywhere if the process does. */
export async function* readFrames(stream: Readable): AsyncGenerator<SqliteFrame, void> {
  let held: Buffer[] = []
  let size = 0
  let wanted = FRAME_HEAD
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held.push(chunk)
    size += chunk.length
    if (size < wanted) continue
    let bytes = held.length === 1 ? chunk : Buffer.concat(held, size)
    for (;;) {
      wanted = bytes.length < FRAME_HEAD ? FRAME_HEAD : FRAME_HEAD + bytes.readUInt32LE(5)
      if (bytes.length < wanted) break
      yield frameFrom(bytes.subarray(0, wanted))
      bytes = bytes.subarray(wanted)
    }
    held = [bytes]
    size = bytes.length
  }
}

function frameFrom(bytes: Buffer): SqliteFrame {
  const kind = KINDS[bytes.readUInt8(0)]
  const text = bytes.toString('utf8', FRAME_HEAD)
  if (kind === 'page') return { kind, text, rows: bytes.readUInt32LE(1) }
  if (kind === 'columns') return { kind, columns: JSON.parse(text) }
  if (kind === 'failure') return { kind, failure: JSON.parse(text) as SqliteFailure }
  return { kind: 'end' }
}
