import type { Engine, Event, EventFilter } from '../jobs/index.ts'
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

const HISTORY_PAGE = 1_000
/** Seven hours of progress; what is older than that of one task is shown by its end. */
const MOST_PAGES = 50

/**
 * What the log still has of one task, oldest first. `stages`: all of it, but of the progress within a stage only the
 * first and the last; else its first thousand events.
 */
export async function eventHistory(
  engine: Engine,
  filter: EventFilter,
  { progress = 'all' }: { progress?: 'all' | 'stages' } = {},
): Promise<EventMessage[]> {
  if (progress === 'all') return toMessages(await engine.events.read(0, filter, HISTORY_PAGE), 0)
  const kept: Event[] = []
  for (let page = 0, after = 0; page < MOST_PAGES; page++) {
    const events = await engine.events.read(after, filter, HISTORY_PAGE)
    for (const event of events) keepStages(kept, event)
    after = events.at(-1)?.seq ?? after
    if (events.length < HISTORY_PAGE) break
  }
  return toMessages(kept, 0)
}

/** Of consecutive progress in one stage, with the same trouble, the one in the middle makes room for the newest. */
function keepStages(kept: Event[], event: Event): void {
  const [before, last] = [kept.at(-2), kept.at(-1)]
  if (before && last && isSameStage(before, last) && isSameStage(last, event)) kept.pop()
  kept.push(event)
}

function isSameStage(a: Event, b: Event): boolean {
  const codeOf = ({ data }: Event) => (data.waiting_for as { code?: string } | undefined)?.code
  return (
    a.type.endsWith('.progress') &&
    a.type === b.type &&
    a.data.stage === b.data.stage &&
    codeOf(a) === codeOf(b)
  )
}
