import type { SwarmAgent } from './engines/swarm/index.ts'
import { iso } from './transfer-view.ts'

/** An agent that is connected now, to whichever instance, as everybody outside sees it. */
export interface AgentView {
  agent_id: string
  container_id: string
  version: string
  host: string
  port: number
  instance: string
  connected_at: string
  seen_at: string
}

export function toAgentView(agent: SwarmAgent): AgentView {
  const { agentId, containerId, version, host, port, instance, connectedAt, seenAt } = agent
  return {
    agent_id: agentId,
    container_id: containerId,
    version,
    host,
    port,
    instance,
    connected_at: iso(connectedAt),
    seen_at: iso(seenAt),
  }
}
