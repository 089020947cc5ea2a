import { type Static, Type } from 'typebox'
import { type Event, RESYNC } from '../jobs/index.ts'

/** An event as it goes over the wire, the same for SSE and WebSocket. */
export const EventMessage = Type.Object(
  {
    seq: Type.Integer(),
    prev_seq: Type.Integer({
      description:
        'The event before this one in this stream; a reader that saw another one has a gap and takes a new snapshot',
    }),
    type: Type.String({ description: 'Such as export.succeeded or run_progress' }),
    task_id: Type.Union([Type.String(), Type.Null()]),
    project_id: Type.Union([Type.String(), Type.Null()]),
    at: Type.String({ format: 'date-time' }),
  },
  { additionalProperties: true, description: 'An event; the further members depend on its type' },
)
export type EventMessage = Static<typeof EventMessage> & Record<string, unknown>

export function toMessages(events: readonly Event[], previous: number): EventMessage[] {
  return events.map((event, index) => ({
    ...event.data,
    seq: event.seq,
    // After a resync nothing comes before: whatever a reader holds, it is not this.
    prev_seq: event.type === RESYNC ? event.seq : (events[index - 1]?.seq ?? previous),
    type: event.type,
    task_id: event.taskId,
    project_id: event.projectId,
    at: new Date(event.at).toISOString(),
  }))
}

/**
 * Consecutive events of a stream as bytes. Readers with the same filter are given the same events, so that the bytes are
 * made once for all of them.
 */
export class EventBatch {
  static readonly #made = new WeakMap<readonly Event[], Map<number, EventBatch>>()
  readonly #events: readonly Event[]
  readonly #previous: number
  #messages: Buffer[] | undefined
  #sse: Buffer | undefined

  private constructor(events: readonly Event[], previous: number) {
    this.#events = events
    this.#previous = previous
  }

  static of(events: readonly Event[], previous: number): EventBatch {
    const made = EventBatch.#made.get(events) ?? new Map<number, EventBatch>()
    EventBatch.#made.set(events, made)
    const batch = made.get(previous) ?? new EventBatch(events, previous)
    made.set(previous, batch)
    return batch
  }

  get lastSeq(): number {
    return this.#events.at(-1)?.seq ?? this.#previous
  }

  /** One JSON text per event. */
  get messages(): readonly Buffer[] {
    this.#messages ??= toMessages(this.#events, this.#previous).map((message) =>
      Buffer.from(JSON.stringify(message)),
    )
    return this.#messages
  }

  /** The same as server-sent events. */
  get sse(): Buffer {
    this.#sse ??= Buffer.from(
      toMessages(this.#events, this.#previous)
        .map((message) => {
          const name = message.type === RESYNC ? `event: ${RESYNC}\n` : ''
          return `${name}id: ${message.seq}\ndata: ${JSON.stringify(message)}\n\n`
        })
        .join(''),
    )
    return this.#sse
  }
}
