export { type Craft, craft, type Made } from './craft.ts'
export { type PinnedThread, ThreadPool } from './thread-pool.ts'
