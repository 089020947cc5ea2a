/** A door of its own: an agent must not carry the whole server in its memory. */
export { Agent, type AgentOptions } from './agent.ts'
export type { OwnIdentity } from './agent-state.ts'
export { openIdentity } from './enroll.ts'
export { checkRoots } from './guarded-directory.ts'
export { lockState } from './lock-state.ts'
