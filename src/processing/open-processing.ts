import type { Domain, Ground } from '../domain/index.ts'
import { Processing } from './processing.ts'
import type { ProcessingOptions } from './processing-options.ts'

/** "Take this upload, let a processor work on it, keep the result." */
export async function openProcessing(
  { engine, tenancy: { quotas }, clock, log }: Ground,
  options: ProcessingOptions,
): Promise<Domain<Processing>> {
  const api = await Processing.open({ engine, quotas, clock, log }, options)
  return {
    name: 'processing',
    api,
    kinds: api.kinds,
    duties: api.duties,
    views: {},
    overview: {
      kind: 'processing',
      ...(api.depth && { depth: api.depth }),
      attention: () => api.attention(),
    },
    start: () => api.start(),
    serve: () => api.serve(),
    drain: (until) => api.drain(until),
    disconnect: (until) => api.disconnect(until),
    stop: () => api.stop(),
  }
}
