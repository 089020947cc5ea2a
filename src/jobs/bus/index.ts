export { InProcessSignal } from './in-process-signal.ts'
export type { Signal } from './signal.ts'
