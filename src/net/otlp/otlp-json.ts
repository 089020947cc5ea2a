import type { Attributes, FinishedSpan, SpanKind } from '../../kernel/index.ts'

const KINDS: Record<SpanKind, number> = { internal: 1, server: 2, client: 3, consumer: 5 }
const STATUS_ERROR = 2
/** Errors may quote what a source has sent. */
const MOST_CHARACTERS = 1_000

export interface OtlpResource {
  attributes: Record<string, string>
  version: string
}

/** Spans as an `ExportTraceServiceRequest` in OTLP's JSON: ids in hex, 64-bit numbers as texts. */
export function toOtlpJson(spans: readonly FinishedSpan[], { attributes, version }: OtlpResource): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toAttributes(attributes) },
        scopeSpans: [{ scope: { name: 'wharf', version }, spans: spans.map(toSpan) }],
      },
    ],
  })
}

function toSpan(span: FinishedSpan) {
  return {
    traceId: span.context.traceId,
    spanId: span.context.spanId,
    ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: toNano(span.startedAt),
    endTimeUnixNano: toNano(span.endedAt),
    attributes: toAttributes(span.attributes),
    status:
      span.error === undefined
        ? {}
        : { code: STATUS_ERROR, message: span.error.toWellFormed().slice(0, MOST_CHARACTERS) },
  }
}

function toAttributes(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  )
}

function toValue(value: string | number | boolean) {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string') return { stringValue: value.toWellFormed().slice(0, MOST_CHARACTERS) }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function toNano(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n)
}
