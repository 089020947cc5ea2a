import type { Clock, Log } from '../kernel/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { GseOptions } from './gse/gse-client.ts'
import type { TransferEngine } from './transfer-engine.ts'

export interface EngineChoice {
  name: 'swarm' | 'gse'
  gse: GseOptions
}

export interface OpenEngineDeps {
  http: HttpClient
  clock: Clock
  log: Log
  /** Runs either way: agents stay connected whichever engine carries the files. */
  swarm: TransferEngine
}

/** The engine that `TRANSFER_ENGINE` names. The one place that knows which there are. */
export async function openTransferEngine(
  { http, clock, log, swarm }: OpenEngineDeps,
  { name, gse }: EngineChoice,
): Promise<TransferEngine> {
  if (name === 'gse') {
    const { GseEngine } = await import('./gse/gse-engine.ts')
    if (gse.agentId === '') log.warn('GSE_AGENT_ID is not set: a GSE needs it to find the files of this host')
    return new GseEngine({ http, clock }, gse)
  }
  return swarm
}
