import type { Carrier } from '../carriers/index.ts'
import type { JobKind } from '../jobs/index.ts'
import { ENDED_BY_WHARF } from './target-codes.ts'
import type { WindowStore } from './windows/index.ts'

export const TERMINATE_KIND = 'transfer-terminate'

export interface TerminatePayload {
  windowId: string
  engineTaskId: string
}

const MINUTE = 60_000

/** Stops the carrier for the targets that Wharf no longer waits for. */
export function terminateKind(deps: {
  windows: WindowStore
  carrier: Carrier
}): JobKind<TerminatePayload, { targets: number }> {
  return {
    name: TERMINATE_KIND,
    domain: 'transfers',
    maxAttempts: 8,
    timeoutMs: MINUTE,
    keepMs: 30 * MINUTE,
    async run({ job, signal }) {
      const { windowId, engineTaskId } = job.payload
      const targets = (await deps.windows.targets(windowId)).filter(({ errorCode }) =>
        ENDED_BY_WHARF.includes(errorCode),
      )
      const agents = targets.map(({ agentId, containerId }) => ({ agentId, containerId }))
      if (agents.length > 0) await deps.carrier.terminate(engineTaskId, agents, signal)
      return { targets: agents.length }
    },
  }
}
