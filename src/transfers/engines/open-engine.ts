import { AppError, type Clock, ERRORS, type Log } from '../../kernel/index.ts'
import type { HttpClient } from '../../net/index.ts'
import type { TransferEngine } from '../transfer-engine.ts'
import type { GseOptions } from './gse/gse-client.ts'

export interface EngineChoice {
  name: 'swarm' | 'gse'
  gse: GseOptions
}

export interface OpenEngineDeps {
  http: HttpClient
  clock: Clock
  log: Log
}

/** The engine that `TRANSFER_ENGINE` names. The one place that knows which there are. */
export async function openTransferEngine(
  { http, clock, log }: OpenEngineDeps,
  { name, gse }: EngineChoice,
): Promise<TransferEngine> {
  if (name === 'gse') {
    const { GseEngine } = await import('./gse/gse-engine.ts')
    if (gse.agentId === '') log.warn('GSE_AGENT_ID is not set: a GSE needs it to find the files of this host')
    return new GseEngine({ http, clock }, gse)
  }
  log.error(`TRANSFER_ENGINE=${name} is not part of this Wharf: transfers will fail; set TRANSFER_ENGINE=gse`)
  return missing(name)
}

/** Everything else goes on; whoever asks for a transfer is told why there is none. */
function missing(name: string): TransferEngine {
  const refuse = async (): Promise<never> => {
    throw new AppError(
      ERRORS.TRANSFER_ENGINE_UNAVAILABLE,
      `the transfer engine '${name}' is not part of this Wharf`,
      { retryable: false },
    )
  }
  return { start: refuse, result: refuse, terminate: refuse }
}
