import { hostname } from 'node:os'
import type { Config } from '../../config.ts'
import { type Log, type Part, sendSpansTo } from '../../kernel/index.ts'
import { openOtlpExporter } from '../../net/index.ts'
import { VERSION } from '../../version.ts'

/** Sends traces to a collector where one is configured; otherwise nothing of it is loaded. */
export async function openTraces(config: Config, log: Log): Promise<Part[]> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === null) return []
  const exporter = await openOtlpExporter(log, {
    endpoint,
    headers: pairs(config.OTEL_EXPORTER_OTLP_HEADERS),
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    everyMs: config.OTEL_BSP_SCHEDULE_DELAY,
    resource: {
      version: VERSION,
      attributes: {
        ...pairs(config.OTEL_RESOURCE_ATTRIBUTES),
        'service.name': config.OTEL_SERVICE_NAME,
        'service.version': VERSION,
        'service.instance.id': `${hostname()}:${process.pid}`,
      },
    },
  })
  sendSpansTo(exporter)
  return [
    {
      name: exporter.name,
      stop: async () => {
        sendSpansTo(undefined)
        await exporter.stop()
      },
    },
  ]
}

/** `name=value,name=value`, percent-encoded, as OpenTelemetry writes them. */
function pairs(text: string | null): Record<string, string> {
  const entries = (text ?? '').split(',').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return name.trim() === '' ? [] : [[name.trim(), decoded(value.join('=').trim())]]
  })
  return Object.fromEntries(entries)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
