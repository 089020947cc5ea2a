import { type LiveEvent, openEvents } from '../api/events.ts'
import { Problem } from '../api/problem.ts'
import { endSession, session } from '../api/session.ts'
import { askWho } from '../api/who.ts'
import { Store } from '../store.ts'

export type Link = 'connecting' | 'live' | 'offline'

export interface LiveListener {
  /** What was read before may be old: read it again. Comes with every new connection and after every gap. */
  onSnapshotNeeded(): void
  onEvent(event: LiveEvent): void
}

/** The server shows life every 5 s; twice that long without any means that the line is dead. */
const SILENCE_MS = 12_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/**
 * Follows the event log for as long as it is open. Each connection begins with `seq`, then the stream after it, and only
 * then the snapshots: whatever changes meanwhile is in the one or in the other. It also asks anew after a restart of
 * the server on an older ledger, where an old `seq` would wait for ever.
 */
export class LiveConnection {
  readonly link = new Store<Link>('connecting')
  /** When the next try is made, while offline. */
  readonly nextTryAt = new Store<number | null>(null)
  readonly #listener: LiveListener
  readonly #closed = new AbortController()
  #hurry: (() => void) | undefined
  /** Ends the line that is open. */
  #drop: (() => void) | undefined

  constructor(listener: LiveListener) {
    this.#listener = listener
  }

  async run(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    const wake = () => this.tryNow()
    // The browser knows at once; a line without a network says nothing for a long time. A server on this machine is found again.
    const drop = () => this.#drop?.()
    const { signal } = this.#closed
    window.addEventListener('online', wake, { signal })
    window.addEventListener('offline', drop, { signal })
    while (!this.#closed.signal.aborted) {
      try {
        await this.#follow(() => {
          pause = FIRST_PAUSE_MS
        })
      } catch (error) {
        if (error instanceof Problem && error.status === 401) {
          endSession('expired')
          break
        }
      }
      if (this.#closed.signal.aborted) break
      this.link.set('offline')
      await this.#rest(pause)
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
    this.#closed.abort()
  }

  tryNow(): void {
    this.#hurry?.()
  }

  close(): void {
    this.#closed.abort()
    this.#hurry?.()
  }

  async #follow(onOpen: () => void): Promise<void> {
    const gone = new AbortController()
    const signal = AbortSignal.any([gone.signal, this.#closed.signal])
    this.#drop = () => gone.abort()
    let watchdog = setTimeout(() => gone.abort(), SILENCE_MS)
    try {
      const who = await askWho(signal)
      // Somebody else signed in elsewhere in this browser: nothing here is theirs.
      if (who.session_id !== session.get()?.id) return window.location.reload()
      let { seq } = who
      const events = await openEvents(seq, signal)
      if (!events) return
      this.link.set('live')
      this.nextTryAt.set(null)
      this.#listener.onSnapshotNeeded()
      onOpen()
      for await (const event of events) {
        clearTimeout(watchdog)
        watchdog = setTimeout(() => gone.abort(), SILENCE_MS)
        if (!event) continue
        // The log was put back; no event of a task says so.
        const resync = event.type === 'resync'
        if (resync || event.prev_seq !== seq) this.#listener.onSnapshotNeeded()
        seq = event.seq
        if (!resync) this.#listener.onEvent(event)
      }
    } finally {
      clearTimeout(watchdog)
      gone.abort()
    }
  }

  async #rest(ms: number): Promise<void> {
    // Many pages lose the same server at once and must not all come back at once.
    const jittered = ms * (0.75 + Math.random() / 2)
    this.nextTryAt.set(Date.now() + jittered)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, jittered)
      this.#hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#hurry = undefined
  }
}
