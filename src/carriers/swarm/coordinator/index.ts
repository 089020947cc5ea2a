export { LedgerSwarmStore } from './ledger-swarm-store.ts'
export { SwarmCarrier, type SwarmCarrierOptions } from './swarm-carrier.ts'
export type { EnrolledAgent, SwarmAgent } from './swarm-store.ts'
