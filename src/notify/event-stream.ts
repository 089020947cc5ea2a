import type { Engine, Event, EventFilter } from '../engine/index.ts'

/** An event as it goes over the wire, the same for SSE and WebSocket. */
export interface EventMessage {
  seq: number
  /** The event before this one in this stream; a reader that saw another has a gap and takes a new snapshot. */
  prev_seq: number
  type: string
  task_id: string | null
  project_id: string | null
  at: string
  [member: string]: unknown
}

/** Follows the event log for one listener. */
export async function* eventStream(
  engine: Engine,
  { after, filter, signal }: { after: number; filter: EventFilter; signal: AbortSignal },
): AsyncGenerator<EventMessage> {
  let previous = after
  for await (const events of engine.feed.follow(after, filter, signal)) {
    for (const event of events) {
      yield toMessage(event, previous)
      previous = event.seq
    }
  }
}

function toMessage(event: Event, previous: number): EventMessage {
  return {
    ...event.data,
    seq: event.seq,
    prev_seq: previous,
    type: event.type,
    task_id: event.taskId,
    project_id: event.projectId,
    at: new Date(event.at).toISOString(),
  }
}

/** Everything that the log still has of one task, oldest first. */
export async function eventHistory(
  engine: Engine,
  filter: EventFilter,
  limit = 1_000,
): Promise<EventMessage[]> {
  let previous = 0
  return (await engine.events.read(0, filter, limit)).map((event) => {
    const message = toMessage(event, previous)
    previous = event.seq
    return message
  })
}
