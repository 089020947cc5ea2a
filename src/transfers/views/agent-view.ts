import type { Static } from 'typebox'
import { agentPeerId, type EnrolledAgent, type SwarmAgent } from '../../carriers/index.ts'
import type { KnownAgent } from './transfer-schemas.ts'
import { iso } from './transfer-view.ts'

export type AgentView = Static<typeof KnownAgent>

export function toAgentView(agent: SwarmAgent, enrolledAt: number | null = null): AgentView {
  const { agentId, containerId, version, host, port, instance, connectedAt, seenAt } = agent
  return {
    agent_id: agentId,
    container_id: containerId,
    connected: true,
    version,
    host,
    port,
    instance,
    connected_at: iso(connectedAt),
    seen_at: iso(seenAt),
    enrolled_at: isoOrNull(enrolledAt),
  }
}

/** Every agent once, by its names. */
export function mergeAgents(
  connected: readonly SwarmAgent[],
  enrolled: readonly EnrolledAgent[],
): AgentView[] {
  const keyOf = ({ agentId, containerId }: { agentId: string; containerId: string }) =>
    agentPeerId(agentId, containerId)
  const lines = new Map(connected.map((agent) => [keyOf(agent), agent]))
  const known = enrolled.map((agent) => {
    const line = lines.get(keyOf(agent))
    lines.delete(keyOf(agent))
    return line ? toAgentView(line, agent.enrolledAt) : absentView(agent)
  })
  // A line that was cut off by a revocation a moment ago.
  return [...known, ...[...lines.values()].map((agent) => toAgentView(agent))]
}

function absentView({ agentId, containerId, enrolledAt, lastSeenAt, lastVersion }: EnrolledAgent): AgentView {
  return {
    agent_id: agentId,
    container_id: containerId,
    connected: false,
    version: lastVersion ?? '',
    host: '',
    port: 0,
    instance: '',
    connected_at: null,
    seen_at: isoOrNull(lastSeenAt),
    enrolled_at: iso(enrolledAt),
  }
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time)
}
