import { createHash } from 'node:crypto'
import {
  background,
  type FinishedSpan,
  type Log,
  messageOf,
  metrics,
  type Part,
  type SpanSink,
} from '../../kernel/index.ts'
import { type OtlpResource, toOtlpJson } from './otlp-json.ts'

export interface OtlpOptions {
  /** The collector, without `/v1/traces`. */
  endpoint: string
  headers: Record<string, string>
  resource: OtlpResource
  /** The part of traces that begin here which is recorded, from 0 to 1. */
  ratio: number
  everyMs?: number
}

const BATCH = 512
const MOST_WAITING = 4 * BATCH
const EVERY_MS = 5_000
const LONGEST_PAUSE_MS = 60_000
const TIMEOUT_MS = 10_000
/** How long a stop waits for the last spans. */
const LAST_MS = 1_000

/**
 * Sends spans to a collector by OTLP over HTTP, as JSON: in batches, one request at a time, from a queue that does not
 * grow. A collector that is away costs the spans that do not fit, and one line in the log; nobody ever waits for it.
 */
export class OtlpExporter implements SpanSink, Part {
  readonly name = 'traces'
  readonly #log: Log
  readonly #options: Required<OtlpOptions>
  readonly #waiting: FinishedSpan[] = []
  #timer: NodeJS.Timeout | undefined
  #sending = false
  /** Requests in a row that failed. */
  #failures = 0

  constructor(log: Log, options: OtlpOptions) {
    this.#log = log
    this.#options = { everyMs: EVERY_MS, ...options }
  }

  /** By the trace's id, so that all instances decide alike. */
  samples(traceId: string): boolean {
    const { ratio } = this.#options
    if (ratio >= 1) return true
    return createHash('sha256').update(traceId).digest().readUInt32BE() / 2 ** 32 < ratio
  }

  take(span: FinishedSpan): void {
    if (this.#waiting.length >= MOST_WAITING) {
      metrics.spans.inc({ outcome: 'dropped' })
      return
    }
    this.#waiting.push(span)
    this.#plan()
  }

  /** The last spans are sent if the collector has answered so far. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#failures > 0) return
    const until = AbortSignal.timeout(LAST_MS)
    while (this.#waiting.length > 0 && this.#failures === 0 && !until.aborted) await this.#send(until)
  }

  #plan(): void {
    if (this.#sending || (this.#timer && (this.#waiting.length < BATCH || this.#failures > 0))) return
    clearTimeout(this.#timer)
    const { everyMs } = this.#options
    const full = this.#waiting.length >= BATCH && this.#failures === 0
    const pause = full ? 0 : Math.min(everyMs * 2 ** this.#failures, Math.max(everyMs, LONGEST_PAUSE_MS))
    this.#timer = setTimeout(() => background('sending spans', this.#run()), pause)
    this.#timer.unref()
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    this.#sending = true
    await this.#send(AbortSignal.timeout(TIMEOUT_MS))
    this.#sending = false
    if (this.#waiting.length > 0) this.#plan()
  }

  async #send(signal: AbortSignal): Promise<void> {
    const spans = this.#waiting.splice(0, BATCH)
    const { endpoint, headers, resource } = this.#options
    try {
      const response = await fetch(`${endpoint.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: toOtlpJson(spans, resource),
        redirect: 'error',
        signal,
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`it answered with status ${response.status}`)
      metrics.spans.inc({ outcome: 'sent' }, spans.length)
      if (this.#failures > 0) this.#log.info('the collector of traces answers again')
      this.#failures = 0
    } catch (error) {
      metrics.spans.inc({ outcome: 'dropped' }, spans.length)
      if (this.#failures++ === 0)
        this.#log.warn(`the collector of traces cannot be reached (${reasonOf(error)}); will keep trying`)
    }
  }
}

function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  return messageOf(cause ?? error)
}
