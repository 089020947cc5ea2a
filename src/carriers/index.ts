export type {
  Carrier,
  TargetResult,
  TransferOrder,
  TransferResult,
  TransferTarget,
} from './carrier.ts'
export { openCarrier } from './open-carrier.ts'
export {
  type EnrolledAgent,
  LedgerSwarmStore,
  type SwarmAgent,
  SwarmCarrier,
} from './swarm/coordinator/index.ts'
export { AgentIdentities } from './swarm/identity/agent-identities.ts'
export { SwarmAuthority } from './swarm/identity/authority.ts'
export { AGENT_SOCKET_PATH, type AgentName, agentPeerId } from './swarm/wire/index.ts'
