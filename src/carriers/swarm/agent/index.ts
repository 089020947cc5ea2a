/** A door of its own: an agent must not carry the whole server in its memory. */
export { Agent, type AgentOptions } from './agent.ts'
export { openIdentity } from './enroll.ts'
export { lockState } from './lock-state.ts'
export { checkRoots } from './place/index.ts'
