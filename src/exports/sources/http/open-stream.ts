import { AppError, ERRORS, type Log } from '../../../kernel/index.ts'
import { inUtf8, type RetryOptions, retryPage, streamNotText } from '../ask/index.ts'
import { discard, isWorthRetrying } from '../pages/index.ts'
import { askSource, type SourceAsker } from './ask-source.ts'
import { pageRequest } from './paging/page-request.ts'
import type { HttpPlan } from './read-http-source.ts'

export interface StreamOptions extends RetryOptions {
  signal: AbortSignal
  onBytes(bytes: number): void
}

/** As long as the export itself may take; a stream that stops altogether ends after five minutes. */
const TIMEOUTS = { headersMs: 300_000, bodyMs: 300_000, totalMs: 24 * 3_600_000 }

/** The body of one answer that holds all rows, in UTF-8. Asked for again until it begins; what breaks off later is lost. */
export async function openStream(
  asker: SourceAsker & { log?: Log | undefined },
  plan: HttpPlan,
  options: StreamOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const { signal, onBytes } = options
  const start = { page: 0, offset: 0, cursor: null, link: null }
  return retryPage(asker, options, { page: 0, signal }, async () => {
    const request = pageRequest(plan, 0, start)
    const { status, headers, body } = await askSource(asker, request, { signal, timeouts: TIMEOUTS })
    if (status < 200 || status > 299) {
      await discard(body)
      throw new AppError(ERRORS.SOURCE_STATUS, `the source answered with status ${status}`, {
        retryable: isWorthRetrying(status),
        details: { status },
      })
    }
    try {
      return counted(inUtf8({ status, headers: Object.fromEntries(headers), body }, streamNotText), onBytes)
    } catch (error) {
      await discard(body)
      throw error
    }
  })
}

async function* counted(
  body: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    onBytes(chunk.length)
    yield chunk
  }
}
