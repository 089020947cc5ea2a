import type { Log } from '../kernel/index.ts'
import type { OtlpExporter, OtlpOptions } from './otlp/otlp-exporter.ts'

/** Loaded only where traces are exported. */
export async function openOtlpExporter(log: Log, options: OtlpOptions): Promise<OtlpExporter> {
  const { OtlpExporter } = await import('./otlp/otlp-exporter.ts')
  return new OtlpExporter(log, options)
}
