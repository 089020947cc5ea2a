import { isUtf8 } from 'node:buffer'
import { AppError, ERRORS, messageOf } from '../../../kernel/index.ts'
import { lineNotUtf8 } from '../ask/index.ts'
import { OPEN_BRACE, skipValue } from '../json/index.ts'
import type { FeedPage, PageBody } from '../pages/index.ts'
import { joinRows } from './paging/answer-page.ts'

const NEWLINE = 0x0a
/** About this many bytes make a page. */
const PAGE_BYTES = 512 * 1024
const MAX_LINE = 64 * 1024 * 1024
const PAGE_HEAD = '{"data":['.length

/** Pages of a stream of JSON lines: one object per line, blank lines left out. */
export async function* linePages(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<FeedPage & { text: PageBody }> {
  let waiting: Uint8Array[] = []
  let size = 0
  /** Whether a line ends in what waits. */
  let ends = false
  let line = 1
  for await (const chunk of body) {
    waiting.push(chunk)
    size += chunk.length
    ends ||= chunk.includes(NEWLINE)
    if (!ends && size > MAX_LINE) throw wrong(line, `is longer than ${MAX_LINE} bytes`)
    if (!ends || size < PAGE_BYTES) continue
    const bytes = Buffer.concat(waiting)
    const end = bytes.lastIndexOf(NEWLINE) + 1
    waiting = [bytes.subarray(end)]
    size = bytes.length - end
    ends = false
    const page = pageOf(bytes.subarray(0, end), line)
    line += page.lines
    if (page.rows > 0) yield page
  }
  const page = pageOf(Buffer.concat(waiting), line)
  if (page.rows > 0) yield page
}

function pageOf(bytes: Buffer, firstLine: number): FeedPage & { text: PageBody; lines: number } {
  const rows: Buffer[] = []
  const lineOf: number[] = []
  let lines = 0
  for (let at = 0; at < bytes.length; lines++) {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline < 0 ? bytes.length : newline
    const row = trimmed(bytes, firstLine + lines === 1 ? withoutMark(bytes, at) : at, end)
    if (row.length > 0) {
      rows.push(row)
      lineOf.push(firstLine + lines)
    }
    at = end + 1
  }
  const text = joinRows(rows)
  check(text.bytes, rows, lineOf)
  return { text, rows: rows.length, lines }
}

/** Each row ends where its line does: what follows it in the page is no part of any value. */
function check(page: Buffer, rows: readonly Buffer[], lineOf: readonly number[]): void {
  let at = PAGE_HEAD
  for (const [index, row] of rows.entries()) {
    const line = lineOf[index]!
    if (!isUtf8(row)) throw lineNotUtf8(line)
    if (row[0] !== OPEN_BRACE) throw wrong(line, 'is not a JSON object')
    try {
      if (skipValue(page, at) !== at + row.length) throw wrong(line, 'is not one JSON object')
    } catch (error) {
      if (error instanceof AppError) throw error
      throw wrong(line, `is not JSON: ${messageOf(error).replace(/ at byte \d+$/, '')}`)
    }
    at += row.length + 1
  }
}

function trimmed(bytes: Buffer, from: number, to: number): Buffer {
  let [start, end] = [from, to]
  while (start < end && isBlank(bytes[start]!)) start++
  while (end > start && isBlank(bytes[end - 1]!)) end--
  return bytes.subarray(start, end)
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d
}

/** Skips a byte order mark. */
function withoutMark(bytes: Buffer, at: number): number {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? at + 3 : at
}

function wrong(line: number, what: string): AppError {
  return new AppError(ERRORS.SOURCE_NOT_JSON, `line ${line} ${what}`, { retryable: false, details: { line } })
}
