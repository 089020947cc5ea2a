import { background, type Clock, DutyLoop, type Log, newId } from '../../kernel/index.ts'
import { type Ledger, now } from '../../ledger/index.ts'
import { FRESH_MS } from './bus-envelope.ts'

export interface LedgerMailDeps {
  ledger: Ledger
  log: Log
  /** The ledger's, as the rows have it. */
  clock: Clock
  receive: (sealed: string) => void
}

/** How often the ledger is asked, and for how long messages are gathered. */
const EVERY_MS = 500
/** Rows may be committed in another order than they are dated: what is a little older is looked for again. */
const LATE_MS = 5_000
const MOST_WAITING = 10_000

/**
 * The way between instances while Redis is away: what is said is gathered, written into the ledger and read there by all. It is open
 * only for as long as Redis is away, so that nobody asks the ledger for it while all is well.
 */
export class LedgerMail {
  readonly #deps: LedgerMailDeps
  readonly #read = new Map<string, number>()
  #waiting: string[] = []
  #loop: DutyLoop | undefined
  #since = 0

  constructor(deps: LedgerMailDeps) {
    this.#deps = deps
  }

  get isOpen(): boolean {
    return this.#loop !== undefined
  }

  open(): void {
    if (this.#loop) return
    this.#since = this.#deps.clock.now() - LATE_MS
    const duty = { name: 'mail between instances', runOnce: () => this.runOnce() }
    this.#loop = new DutyLoop(duty, { ...this.#deps }, { everyMs: EVERY_MS })
    this.#loop.start()
  }

  close(): void {
    if (this.#loop) background('closing the mail between instances', this.#loop.stop())
    this.#loop = undefined
    this.#waiting = []
  }

  /** The oldest give way: messages are hints, and the newest say most. */
  send(sealed: string): void {
    this.#waiting.push(sealed)
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift()
  }

  async runOnce(): Promise<void> {
    const { ledger, clock, receive } = this.#deps
    const sent = this.#waiting
    this.#waiting = []
    if (sent.length > 0)
      await ledger.db
        .insertInto('bus_mail')
        .values({ id: newId(), sent_at: now, messages: JSON.stringify(sent) })
        .execute()
    const known = [...this.#read.keys()]
    const rows = await ledger.db
      .selectFrom('bus_mail')
      .selectAll()
      .where('sent_at', '>=', this.#since)
      .$if(known.length > 0, (query) => query.where('id', 'not in', known))
      .orderBy('sent_at')
      .execute()
    for (const { id, sent_at, messages } of rows) {
      this.#since = Math.max(this.#since, sent_at - LATE_MS)
      this.#read.set(id, sent_at)
      for (const sealed of JSON.parse(messages) as string[]) receive(sealed)
    }
    for (const [id, at] of this.#read) if (at < this.#since) this.#read.delete(id)
    await ledger.db
      .deleteFrom('bus_mail')
      .where('sent_at', '<', clock.now() - FRESH_MS)
      .execute()
  }
}
