import type { TargetResult } from '../../carrier.ts'
import { RESULT } from '../wire/index.ts'
import type { SwarmTarget } from './swarm-store.ts'

/** One row per place of the target. `progress` in percent, for a file that is still on its way. */
export function resultsOf(target: SwarmTarget, progress: number, connected = true): TargetResult[] {
  const { agentId, containerId } = target
  return target.places.map(({ directory, code = target.code, message = target.message }) => ({
    agentId,
    containerId,
    directory,
    errorCode: code,
    errorMessage: message,
    progress: code === RESULT.DONE ? 100 : progress,
    connected,
  }))
}
