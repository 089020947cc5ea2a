import { AppError, ERRORS } from '../../kernel/index.ts'
import { expectOk, type HttpResponse } from '../../net/index.ts'

/** What a server's answer to a request for a file, or for the rest of one, means for the bytes at hand. */
export interface FileAnswer {
  /** Where the body's first byte belongs: the bytes before are kept, those after are replaced. */
  from: number
  /** Size of the whole file, if the answer has it. */
  total: number | undefined
  /** What to show with a later request for the rest; null if the server gives nothing that identifies a version. */
  validator: string | null
}

/** Throws for an answer that brings no usable bytes; `have` bytes were asked to be left out. */
export function readFileAnswer(response: HttpResponse, have: number, now: number): FileAnswer {
  const { status, headers } = response
  if (status === 416 && have > 0) throw startOver('its server has no bytes after those that are here')
  expectOk(response, now)
  const validator = validatorOf(headers)
  if (status !== 206) return { from: 0, total: lengthOf(headers), validator }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '')
  if (!range || Number(range[1]) !== have)
    throw startOver('its server sent another range than it was asked for')
  return { from: have, total: range[2] === '*' ? undefined : Number(range[2]), validator }
}

/** Thrown when the bytes at hand are of no use; the next try begins with none. */
export class StartOver extends AppError {}

export function startOver(why: string): StartOver {
  return new StartOver(ERRORS.FILE_INCOMPLETE, `the file cannot be continued: ${why}`)
}

/** Weak tags do not promise the same bytes, so they cannot vouch for half a file. */
function validatorOf(headers: Headers): string | null {
  const tag = headers.get('etag')
  if (tag && !tag.startsWith('W/')) return tag
  return headers.get('last-modified')
}

function lengthOf(headers: Headers): number | undefined {
  const encoding = headers.get('content-encoding')
  const length = headers.get('content-length')
  if (length === null || (encoding !== null && encoding !== 'identity')) return undefined
  return Number(length)
}
