export { Callbacks, type Delivery, type TaskViews } from './callbacks.ts'
export { type EventMessage, eventHistory, eventStream } from './event-stream.ts'
