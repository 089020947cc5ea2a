export { Callbacks, type Delivery, type TaskViews } from './callbacks.ts'
export { type EventMessage, eventStream } from './event-stream.ts'
