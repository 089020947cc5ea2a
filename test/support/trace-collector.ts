import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'

export interface SeenSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code?: number; message?: string }
}

interface Body {
  resourceSpans: {
    resource: { attributes: SeenSpan['attributes'] }
    scopeSpans: { scope: { name: string }; spans: SeenSpan[] }[]
  }[]
}

/** What an OTLP collector does with `POST /v1/traces`, over real HTTP on loopback. */
export class TraceCollector {
  readonly spans: SeenSpan[] = []
  readonly resources: SeenSpan['attributes'][] = []
  readonly headers: NodeJS.Dict<string | string[]>[] = []
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url !== '/v1/traces' || request.method !== 'POST') return response.writeHead(404).end()
      this.#take(JSON.parse(Buffer.concat(chunks).toString()) as Body)
      this.headers.push(request.headers)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector()
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      collector.#server.closeAllConnections()
      collector.#server.close()
    })
    return collector
  }

  /** Settings that make a server send its spans here at once. */
  get env(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo
    return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '20' }
  }

  of(name: string): SeenSpan[] {
    return this.spans.filter((span) => span.name === name)
  }

  /** The first span of this name, as soon as it is there. */
  async span(name: string): Promise<SeenSpan> {
    return until(`a span '${name}' was sent`, () => this.of(name)[0])
  }

  #take({ resourceSpans }: Body): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(resource.attributes)
      for (const { spans } of scopeSpans) this.spans.push(...spans)
    }
  }
}

/** The value of an attribute, whatever its type. */
export function attributeOf(attributes: SeenSpan['attributes'], key: string): unknown {
  const found = attributes.find((one) => one.key === key)
  return found && Object.values(found.value)[0]
}
