import { AppError, ERRORS } from '../../../kernel/index.ts'
import { quoted } from '../pages/index.ts'
import type { HttpPlan } from './read-http-source.ts'

const PAGE = /^\s*<(?:!doctype\s+html|html)[\s>]/i
/** The longest beginning that has to be seen, `<!doctype html>`. */
const PAGE_HEAD = 16
/** Of what is no row, so much is read for the reason in it. */
const MOST_BYTES = 16 * 1024

interface Stream {
  type: string | undefined
  format: HttpPlan['format']
}

/** The same bytes, unless they begin something else in place of rows: every text is some CSV. */
export async function* onlyRows(
  bytes: AsyncIterable<Uint8Array>,
  { type = '', format }: Stream,
): AsyncGenerator<Uint8Array> {
  const isPageByType = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type)
  const isJson = format === 'csv' && /^\s*application\/(?:[\w.-]+\+)?json\b/i.test(type)
  let head: Buffer | undefined = Buffer.alloc(0)
  /** Whether the rest is awaited for what it may say, not for what it is. */
  let isOther = false
  for await (const chunk of bytes) {
    if (head === undefined) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    const text = head.toString('utf8', 0, MOST_BYTES)
    const [first = ''] = text.trimStart()
    if (PAGE.test(text) || (isPageByType && first === '<')) throw answeredWithPage(format)
    isOther ||= isJson && (first === '{' || first === '[')
    const mayBePage = first === '' || (first === '<' && text.trimStart().length < PAGE_HEAD)
    if ((isOther || mayBePage) && head.length < MOST_BYTES) continue
    if (isOther) break
    yield head
    head = undefined
  }
  if (head === undefined) return
  if (isOther) throw answeredWithJson(head.toString('utf8', 0, MOST_BYTES))
  if (head.length > 0) yield head
}

function answeredWithPage(format: HttpPlan['format']): AppError {
  const kind = format === 'csv' ? ERRORS.SOURCE_SHAPE : ERRORS.SOURCE_NOT_JSON
  return new AppError(kind, 'the request was answered with an HTML page, is a login needed?', {
    retryable: false,
  })
}

function answeredWithJson(text: string): AppError {
  return new AppError(ERRORS.SOURCE_SHAPE, `the answer is JSON, not CSV${quoted(text)}`, { retryable: false })
}
