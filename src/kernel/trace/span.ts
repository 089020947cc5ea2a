import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { messageOf } from '../errors.ts'
import { formatTraceparent, parseTraceparent, type TraceContext } from './trace-context.ts'

export type SpanKind = 'internal' | 'server' | 'client' | 'consumer'
export type Attributes = Record<string, string | number | boolean | undefined>

export interface FinishedSpan {
  name: string
  kind: SpanKind
  context: TraceContext
  parentId: string | undefined
  /** Milliseconds since 1970, with fractions. */
  startedAt: number
  endedAt: number
  attributes: Attributes
  /** What went wrong. */
  error: string | undefined
}

/** Takes spans for a collector. Neither may throw or wait. */
export interface SpanSink {
  /** Whether a trace that begins here is recorded. */
  samples(traceId: string): boolean
  take(span: FinishedSpan): void
}

export interface SpanOptions {
  kind?: SpanKind
  /** A `traceparent`. Left out: whatever runs now. Null, or no valid one: a trace of its own. */
  parent?: string | null | undefined
  attributes?: Attributes
}

const current = new AsyncLocalStorage<TraceContext | undefined>()
let sink: SpanSink | undefined

/** Where spans go from now on; without a sink none is made, and the context of a caller is passed on as it came. */
export function sendSpansTo(taker: SpanSink | undefined): void {
  sink = taker
}

/** The `traceparent` to send to others. */
export function currentTraceparent(): string | undefined {
  const context = current.getStore()
  return context && formatTraceparent(context)
}

/** One step of a trace, from its making to `end`. */
export class Span {
  readonly context: TraceContext | undefined
  name: string
  readonly #kind: SpanKind
  readonly #parentId: string | undefined
  readonly #startedAt = performance.timeOrigin + performance.now()
  readonly #attributes: Attributes
  /** Where it goes; undefined when nobody wants it. */
  #sink: SpanSink | undefined

  constructor(name: string, { kind = 'internal', parent, attributes = {} }: SpanOptions = {}) {
    this.name = name
    this.#kind = kind
    this.#attributes = { ...attributes }
    const above = parent === undefined ? current.getStore() : parseTraceparent(parent)
    this.#parentId = above?.spanId
    this.context = above
    if (!sink) return
    const traceId = above?.traceId ?? randomBytes(16).toString('hex')
    const sampled = above?.sampled ?? sink.samples(traceId)
    this.context = { traceId, spanId: randomBytes(8).toString('hex'), sampled }
    if (sampled) this.#sink = sink
  }

  /** Adds to what is known of it. */
  set(attributes: Attributes): void {
    Object.assign(this.#attributes, attributes)
  }

  /** Whatever `work` begins is below this span. */
  run<T>(work: () => T): T {
    return current.run(this.context, work)
  }

  /** Only the first call counts. */
  end(error?: unknown): void {
    const taker = this.#sink
    this.#sink = undefined
    if (!taker || !this.context) return
    taker.take({
      name: this.name,
      kind: this.#kind,
      context: this.context,
      parentId: this.#parentId,
      startedAt: this.#startedAt,
      endedAt: performance.timeOrigin + performance.now(),
      attributes: this.#attributes,
      error: error === undefined ? undefined : messageOf(error),
    })
  }
}

/** Does `work` as one span, which fails with it. */
export async function traced<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = new Span(name, options)
  try {
    const result = await span.run(() => work(span))
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}
