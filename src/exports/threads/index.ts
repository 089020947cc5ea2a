export { craft, type Made, neighbour } from './craft.ts'
export { type PinnedThread, ThreadPool } from './thread-pool.ts'
