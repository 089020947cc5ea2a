export { type Bus, InProcessBus } from './bus/index.ts'
export type { Dispatcher } from './dispatch/dispatcher.ts'
export { InProcessDispatcher } from './dispatch/in-process-dispatcher.ts'
export { Engine } from './engine.ts'
export { type Event, type EventFilter, type EventQuery, RESYNC } from './events/index.ts'
export { Gather } from './gather.ts'
export { activeIn, isActive, type Job } from './job.ts'
export type { Enqueued } from './job-store.ts'
export { type Change, Completed, type Described, type Ended, type JobContext, type JobKind } from './kind.ts'
export {
  type Attention,
  type Depth,
  DomainOverview,
  InstanceOverview,
  jobMeter,
  jobsToNotice,
  type OpenWork,
  OVERVIEW_RANGES,
  Overview,
  type OverviewRange,
  readLaneLimits,
  readOpenWork,
  type WatchedDomain,
} from './overview/index.ts'
export { Failure, nullable, pageOf, Time } from './shapes.ts'
export type { JobState } from './tables.ts'
export { WAITING_COLUMNS, WaitingFor, waitingFor } from './waiting-for.ts'
