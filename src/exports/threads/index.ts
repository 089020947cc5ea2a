export { type Made, neighbour, taskFunction } from './task-function.ts'
export { type PinnedThread, ThreadPool } from './thread-pool.ts'
