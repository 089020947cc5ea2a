import type { Engine, EventFilter } from '../jobs/index.ts'
import { EventBatch, type EventMessage, toMessages } from './event-batch.ts'

export interface EventStream {
  /** Where it begins. */
  after: number
  /** Where the log ended when the stream was opened. */
  end: number
  batches: AsyncGenerator<EventBatch>
}

/**
 * Follows the event log for one listener, after `after`, or from now on if that is undefined. Rejects if the ledger is
 * away; once it is open, the stream outlives that. The signal must be aborted even if nothing is ever read.
 */
export async function openEventStream(
  engine: Engine,
  { after, filter, signal }: { after: number | undefined; filter: EventFilter; signal: AbortSignal },
): Promise<EventStream> {
  const feed = await engine.feed.open(after ?? null, filter, signal)
  async function* batches() {
    let previous = feed.after
    for await (const events of feed.pages) {
      const batch = EventBatch.of(events, previous)
      yield batch
      previous = batch.lastSeq
    }
  }
  return { after: feed.after, end: feed.end, batches: batches() }
}

/** Everything that the log still has of one task, oldest first. */
export async function eventHistory(
  engine: Engine,
  filter: EventFilter,
  limit = 1_000,
): Promise<EventMessage[]> {
  return toMessages(await engine.events.read(0, filter, limit), 0)
}
