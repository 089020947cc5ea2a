export { openTransferEngine } from './open-engine.ts'
export {
  type EnrolledAgent,
  LedgerSwarmStore,
  type SwarmAgent,
  SwarmEngine,
} from './swarm/coordinator/index.ts'
export { AgentIdentities } from './swarm/identity/agent-identities.ts'
export { SwarmAuthority } from './swarm/identity/authority.ts'
export { AGENT_SOCKET_PATH, type AgentName, agentPeerId } from './swarm/wire/index.ts'
export type {
  TargetResult,
  TransferEngine,
  TransferOrder,
  TransferResult,
  TransferTarget,
} from './transfer-engine.ts'
