export { Callbacks, type Delivery, type TaskViews } from './callbacks.ts'
export type { EventBatch, EventMessage } from './event-batch.ts'
export { type EventStream, eventHistory, openEventStream } from './event-stream.ts'
