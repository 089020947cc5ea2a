export type { Bus } from './bus.ts'
export { InProcessBus } from './in-process-bus.ts'
