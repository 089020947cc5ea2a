export type {
  Carrier,
  TargetResult,
  TransferOrder,
  TransferResult,
  TransferTarget,
} from './carrier.ts'
export { type Carriers, type CarriersOptions, type FileOf, openCarriers } from './open-carriers.ts'
export type { EnrolledAgent, SwarmAgent } from './swarm/coordinator/index.ts'
export { type AgentName, agentPeerId } from './swarm/wire/index.ts'
