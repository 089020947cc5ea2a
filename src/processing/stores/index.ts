export { LedgerTaskStore } from './ledger-store.ts'
export { deleteJobs, enqueueTasks, recoverTasks } from './task-jobs.ts'
export { type TaskListOptions, type TaskRow, TaskRows, toDetails, toRecord, tryOf } from './task-rows.ts'
export type { TaskStore } from './task-store.ts'
