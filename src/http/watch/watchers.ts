import type { Bus, Engine, EventFilter } from '../../jobs/index.ts'
import { bestEffort, type Log } from '../../kernel/index.ts'
import { type EventBatch, type EventStream, openEventStream } from '../../notify/index.ts'
import type { Grant, Quotas, Sessions } from '../../tenancy/index.ts'
import type { Metrics } from '../metrics/index.ts'

export interface WatcherDeps {
  engine: Engine
  quotas: Quotas
  sessions: Sessions
  bus: Bus
  metrics: Metrics
  stopping: AbortSignal
  log: Log
}

/** The connection that a watcher reads from. */
export interface Line {
  readonly transport: 'sse' | 'websocket'
  /** A promise if it is not taken at once; it resolves when it is, or when the line is closed. */
  send(batch: EventBatch): Promise<void> | undefined
  /** Shows the peer that the server is alive. Called only while nothing waits to be taken. */
  beat(): void
  /** Says why and closes. */
  end(reason: EndReason): void
}

export type EndReason = 'too slow' | 'shutting down' | 'internal error' | 'key ended'

/** Between two heartbeats: a reader that hears none for twice as long knows that its line is dead. */
const BEAT_MS = 5_000
/** A watcher that has not taken what it was sent before this many heartbeats is dropped. */
const PATIENCE_BEATS = 6
/** Keys that have ended are looked for with every so many heartbeats: that reads the ledger. */
const LOOK_BEATS = 3
/** No watcher takes longer from the check of its key until it is served. */
const OPENING_MS = 60_000

/**
 * Everyone who watches events over this server. A watcher that cannot keep up waits for itself alone: no more is read for
 * it than what its line has taken. One that stalls gets a last message, and is dropped; it
 * comes back and asks for what it missed.
 */
export class Watchers {
  readonly #deps: WatcherDeps
  readonly #watches = new Set<Watch>()
  #timer: NodeJS.Timeout | undefined
  #keysEndedAt = Number.NEGATIVE_INFINITY
  #beats = 0

  constructor(deps: WatcherDeps) {
    this.#deps = deps
    const unsubscribe = deps.bus.subscribe('keys', () => {
      this.#keysEndedAt = performance.now()
      this.#dropEnded(this.#watches)
    })
    deps.stopping.addEventListener('abort', () => {
      unsubscribe()
      for (const watch of this.#watches) watch.end('shutting down')
    })
  }

  /** Rejects if the ledger is away. What it returns must be served or cancelled. */
  async open(after: number | undefined, filter: EventFilter, grant: Grant | null): Promise<Watch> {
    const gone = new AbortController()
    if (grant !== null && grant.projectId !== null) {
      const release = await this.#deps.quotas.hold(grant.projectId, 'streams')
      gone.signal.addEventListener('abort', release, { once: true })
    }
    const stream = await openEventStream(this.#deps.engine, { after, filter, signal: gone.signal }).catch(
      (error) => {
        gone.abort()
        throw error
      },
    )
    return new Watch(stream, gone, grant)
  }

  /** Resolves when the watch is over, for whatever reason. */
  async serve(watch: Watch, line: Line): Promise<void> {
    const { metrics, stopping, log } = this.#deps
    this.#watches.add(watch)
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref()
    metrics.watchers.inc({ transport: line.transport })
    try {
      const run = watch.run(line)
      // The key may have ended after it was checked and before this watch was known here.
      if (performance.now() - this.#keysEndedAt < OPENING_MS) this.#dropEnded([watch])
      if (stopping.aborted) watch.end('shutting down')
      await run
    } catch (error) {
      log.error({ err: error }, 'an event stream ended with an error')
      watch.end('internal error')
    } finally {
      this.#watches.delete(watch)
      metrics.watchers.dec({ transport: line.transport })
      if (this.#watches.size === 0) {
        clearInterval(this.#timer)
        this.#timer = undefined
      }
    }
  }

  /** Also from time to time: a signal may be lost, and some keys end by themselves. */
  #dropEnded(watches: Iterable<Watch>): void {
    const granted = [...watches].flatMap((watch) => (watch.grant ? [{ ...watch.grant, watch }] : []))
    const drop = async () => {
      for (const { watch } of await this.#deps.sessions.ended(granted)) watch.end('key ended')
    }
    bestEffort(drop(), (err) => this.#deps.log.warn({ err }, 'could not look for ended keys'))
  }

  #beat(): void {
    if (++this.#beats % LOOK_BEATS === 0) this.#dropEnded(this.#watches)
    for (const watch of this.#watches) {
      const dropped = watch.beat()
      if (dropped) this.#deps.metrics.watchersDropped.inc({ transport: dropped.transport })
    }
  }
}

/** One watcher: a place in the log and the line to carry what comes after it. */
export class Watch {
  readonly #stream: EventStream
  readonly #gone: AbortController
  /** What the watcher's permission depends on; null: on nothing that ends. */
  readonly grant: Grant | null
  #line: Line | undefined
  /** Heartbeats since a batch was sent that is not taken yet. */
  #late: number | undefined

  constructor(stream: EventStream, gone: AbortController, grant: Grant | null) {
    this.#stream = stream
    this.#gone = gone
    this.grant = grant
  }

  /** Where the log ended when the watch was opened. */
  get logEnd(): number {
    return this.#stream.end
  }

  /** To be called when the peer is gone. */
  cancel(): void {
    this.#gone.abort()
  }

  async run(line: Line): Promise<void> {
    this.#line = line
    try {
      for await (const batch of this.#stream.batches) {
        const taken = line.send(batch)
        if (!taken) continue
        this.#late = 0
        await taken
        this.#late = undefined
      }
    } finally {
      this.cancel()
    }
  }

  /** The line, if the watcher read nothing for too long and was dropped. */
  beat(): Line | undefined {
    if (this.#late === undefined) this.#line?.beat()
    else if (++this.#late === PATIENCE_BEATS) {
      this.end('too slow')
      return this.#line
    }
    return undefined
  }

  end(reason: EndReason): void {
    this.#line?.end(reason)
    this.cancel()
  }
}
