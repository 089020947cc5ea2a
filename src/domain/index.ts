export type { Domain, ScheduledDuty, Upgrade } from './domain.ts'
export type { Ground } from './ground.ts'
export { partOf, register } from './run-domain.ts'
export type { TaskNotice, TaskViews } from './task-views.ts'
