export type { AgentView } from './agent-view.ts'
export type { GseOptions } from './engines/gse/gse-client.ts'
export { type EngineChoice, openTransferEngine } from './engines/open-engine.ts'
export {
  AGENT_SOCKET_PATH,
  AgentIdentities,
  type AgentName,
  LedgerSwarmStore,
  type SwarmAgent,
  SwarmAuthority,
  SwarmEngine,
} from './engines/swarm/index.ts'
export { type OpenedTransfers, openTransfers, type TransferSettings } from './open-transfers.ts'
export type { RepositoryFile } from './repository.ts'
export type {
  TargetResult,
  TransferEngine,
  TransferOrder,
  TransferResult,
  TransferTarget,
} from './transfer-engine.ts'
export { parseTaskKey } from './transfer-keys.ts'
export { noTransfer } from './transfer-queries.ts'
export type { ExportFile, TransferBody } from './transfer-request.ts'
export type { TransferJobItem, TransferJobView, TransferTaskView } from './transfer-view.ts'
export { Transfers, type TransfersDeps, type TransfersOptions } from './transfers.ts'
export type { Joined } from './write-joins.ts'
