import type { Clock, Log } from '../kernel/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { Carrier } from './carrier.ts'
import type { GseOptions } from './gse/gse-client.ts'

export interface CarrierChoice {
  name: 'swarm' | 'gse'
  gse: GseOptions
}

export interface OpenEngineDeps {
  http: HttpClient
  clock: Clock
  log: Log
  /** Runs either way: agents stay connected whichever engine carries the files. */
  swarm: Carrier
}

/** The engine that `TRANSFER_ENGINE` names. The one place that knows which there are. */
export async function openCarrier(
  { http, clock, log, swarm }: OpenEngineDeps,
  { name, gse }: CarrierChoice,
): Promise<Carrier> {
  if (name === 'gse') {
    const { GseCarrier } = await import('./gse/gse-carrier.ts')
    if (gse.agentId === '') log.warn('GSE_AGENT_ID is not set: a GSE needs it to find the files of this host')
    return new GseCarrier({ http, clock }, gse)
  }
  return swarm
}
