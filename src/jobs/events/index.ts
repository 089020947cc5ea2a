export { EventFeed, RESYNC } from './event-feed.ts'
export { type Event, type EventFilter, EventLog } from './event-log.ts'
export { type Telling, telling, tellTasks } from './telling.ts'
