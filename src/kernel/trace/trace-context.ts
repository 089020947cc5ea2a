/** Where in a trace something happens (W3C Trace Context). */
export interface TraceContext {
  traceId: string
  spanId: string
  /** Whether the caller that began the trace wants it recorded. */
  sampled: boolean
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NOTHING = /^0+$/
const SAMPLED = 1

/** Anything that is not a valid `traceparent` is as good as none. Later versions may add to it. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  const match = typeof text === 'string' ? TRACEPARENT.exec(text.trim()) : null
  if (!match) return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', more] = match
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED }
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
}
