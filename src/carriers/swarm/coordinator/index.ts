export { LedgerSwarmStore } from './ledger-swarm-store.ts'
export { SwarmCarrier } from './swarm-carrier.ts'
export type { EnrolledAgent, SwarmAgent } from './swarm-store.ts'
