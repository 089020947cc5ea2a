import {
  Agent,
  type AgentOptions,
  checkRoots,
  lockState,
  openIdentity,
} from '../carriers/swarm/agent/index.ts'
import { type Log, type Part, systemClock } from '../kernel/index.ts'
import { VERSION } from '../version.ts'

export interface AgentSettings extends Omit<AgentOptions, 'version' | 'identity'> {
  /** The folder that keeps the agent's key. */
  state: string
  /** The token to enrol with; undefined: it was enrolled before. */
  enroll: string | undefined
}

/** The agent alone: nothing of the server is loaded, so that it stays small on hosts that have other work. */
export function composeAgent({ state, enroll, ...options }: AgentSettings, log: Log): Part {
  const stopped = new AbortController()
  let agent: Agent | undefined
  let lock: { release(): void } | undefined
  return {
    name: 'agent',
    async start() {
      // Errors in the command are reported before a token is used up.
      checkRoots(options.roots)
      lock = await lockState(state)
      const name = { agentId: options.agentId, containerId: options.containerId }
      const identity = await openIdentity(
        { clock: systemClock, log },
        { ...name, server: options.server, state, token: enroll },
        stopped.signal,
      ).catch((error) => {
        if (stopped.signal.aborted) return undefined
        throw error
      })
      if (!identity) return
      agent = new Agent({ clock: systemClock, log }, { ...options, identity, version: VERSION })
      await agent.start()
    },
    async stop() {
      stopped.abort(new Error('the agent stops'))
      await agent?.stop()
      lock?.release()
    },
  }
}
