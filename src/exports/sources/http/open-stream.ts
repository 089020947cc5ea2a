import { AppError, counted, ERRORS, isAppError, type Log, prefixed } from '../../../kernel/index.ts'
import { newlines, ownWords, type RetryOptions, retryPage, streamInUtf8 } from '../ask/index.ts'
import { discard, isWorthRetrying } from '../pages/index.ts'
import { askSource, type SourceAsker } from './ask-source.ts'
import { onlyRows } from './only-rows.ts'
import { pageRequest } from './paging/page-request.ts'
import type { HttpPlan } from './read-http-source.ts'

export interface StreamOptions extends RetryOptions {
  signal: AbortSignal
  onBytes(bytes: number): void
}

const BOUNDS = ['content-length', 'transfer-encoding', 'content-encoding']
/** As long as the export itself may take; a stream that stops altogether ends after five minutes. */
const TIMEOUTS = { headersMs: 300_000, bodyMs: 300_000, totalMs: 24 * 3_600_000 }

/** An answer with all rows. */
export interface StreamBody {
  bytes: AsyncIterable<Uint8Array>
  /** It says how long it is, or where it ends: one that is cut is no whole answer. */
  bounded: boolean
}

/** The body of one answer that holds all rows, in UTF-8. Asked for again until it begins; what breaks off later is lost. */
export async function openStream(
  asker: SourceAsker & { log?: Log | undefined },
  plan: HttpPlan,
  options: StreamOptions,
): Promise<StreamBody> {
  const { signal, onBytes } = options
  const start = { page: 0, offset: 0, cursor: null, link: null }
  return retryPage(asker, options, { page: 0, signal }, async () => {
    const request = pageRequest(plan, 0, start)
    // Ends an answer whose reason is not worth waiting for.
    const enough = new AbortController()
    const { status, headers, body } = await askSource(asker, request, {
      signal: AbortSignal.any([signal, enough.signal]),
      timeouts: TIMEOUTS,
    })
    if (status < 200 || status > 299) {
      const answer = { status, headers: Object.fromEntries(headers), body }
      const said = await ownWords(answer, { clock: asker.clock, signal })
      enough.abort()
      await discard(body)
      throw new AppError(ERRORS.SOURCE_STATUS, `the source answered with status ${status}${said}`, {
        retryable: isWorthRetrying(status),
        details: { status },
      })
    }
    try {
      const text = streamInUtf8({ status, headers: Object.fromEntries(headers), body })
      const rows = onlyRows(text, { type: headers.get('content-type') ?? undefined, format: plan.format })
      return { bytes: metered(rows, onBytes), bounded: BOUNDS.some((name) => headers.has(name)) }
    } catch (error) {
      await discard(body)
      throw error
    }
  })
}

/** Where it breaks off, the error says how far it came: the rows before that are lost with it. */
async function* metered(
  body: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let lines = 0
  try {
    for await (const chunk of body) {
      onBytes(chunk.length)
      lines += newlines(chunk)
      yield chunk
    }
  } catch (error) {
    throw isAppError(error) && error.retryable
      ? prefixed(error, `the answer broke off after ${counted(lines, 'line')}`)
      : error
  }
}
