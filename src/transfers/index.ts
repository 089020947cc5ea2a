export {
  AGENT_SOCKET_PATH,
  LedgerSwarmStore,
  type SwarmAgent,
  SwarmAuthority,
  SwarmEngine,
} from './engines/swarm/index.ts'
export type {
  TargetResult,
  TransferEngine,
  TransferOrder,
  TransferResult,
  TransferTarget,
} from './transfer-engine.ts'
