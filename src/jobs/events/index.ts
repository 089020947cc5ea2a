export { Emitter, type EventColumns, type EventQuery, type NewEvent } from './emitter.ts'
export { EventFeed, RESYNC } from './event-feed.ts'
export { type Event, type EventFilter, EventLog } from './event-log.ts'
