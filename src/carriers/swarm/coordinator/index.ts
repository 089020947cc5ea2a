export { LedgerSwarmStore } from './ledger-swarm-store.ts'
export { SwarmEngine } from './swarm-engine.ts'
export type { EnrolledAgent, SwarmAgent } from './swarm-store.ts'
