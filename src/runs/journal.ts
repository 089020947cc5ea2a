import type { Engine, JobContext } from '../jobs/index.ts'
import { type Clock, ERRORS, isAppError } from '../kernel/index.ts'
import { settle } from '../ledger/index.ts'
import type { FileRecord, FileRecords } from './accounts/file-records.ts'
import type { AccountFolder } from './files/index.ts'
import type { Checkpoint, RunOrder, RunStore } from './run-store.ts'

export interface JournalDeps {
  context: JobContext<RunOrder>
  engine: Engine
  records: FileRecords
  runs: RunStore
  folder: AccountFolder
  clock: Clock
}

interface Line {
  level: string
  message: string
  /** Of the error that the line is about. */
  code?: string
}

/** One file that keeps failing is news; ten thousand of them are a number. */
const MOST_LOG_LINES = 200

/**
 * Writes down what a run does, in few transactions: a thousand small files must not cost a thousand commits. Each is
 * made under the run's lease. What a crash takes away is found again on the disk.
 */
export class Journal {
  readonly #deps: JournalDeps
  readonly #order: RunOrder
  #records = new Map<string, FileRecord>()
  #lines: Line[] = []
  /** Lines of a write that an outage broke off: the ledger may have them. */
  #undecided: { lines: Line[]; since: number; error: unknown } | undefined
  #checkpoint: Checkpoint | undefined
  #saved = ''
  #logged = 0
  #flushing: Promise<boolean> | undefined

  constructor(deps: JournalDeps) {
    this.#deps = deps
    this.#order = deps.context.job.payload
  }

  record(file: FileRecord): void {
    this.#records.set(file.itemId, file)
  }

  checkpoint(checkpoint: Checkpoint): void {
    this.#checkpoint = checkpoint
  }

  /** A short line for the user. */
  log(level: 'info' | 'warn', message: string, code?: string): void {
    this.#logged++
    if (this.#logged > MOST_LOG_LINES) return
    this.#lines.push({ level, message, ...(code !== undefined && { code }) })
    if (this.#logged === MOST_LOG_LINES)
      this.#lines.push({ level, message: 'further messages of this run are left out' })
  }

  /** False if the ledger is away: then all of it is kept for the next time. */
  async flush(): Promise<boolean> {
    while (this.#flushing !== undefined) await this.#flushing
    this.#flushing = this.#write().finally(() => (this.#flushing = undefined))
    return this.#flushing
  }

  async #write(): Promise<boolean> {
    if (!(await this.#isDecided())) return false
    const records = this.#records
    const lines = this.#lines
    let since: number | undefined
    const checkpoint = this.#checkpoint
    const text = checkpoint ? JSON.stringify(checkpoint) : this.#saved
    if (records.size === 0 && lines.length === 0 && text === this.#saved) return true
    this.#records = new Map()
    this.#lines = []
    try {
      // The ledger must not call a file done whose name the disk could still forget.
      if ([...records.values()].some(({ done }) => done)) await this.#deps.folder.sync()
      await this.#deps.context.transaction(async (tx) => {
        if (lines.length > 0) since = await tx.now()
        await this.#deps.records.write(tx, this.#order.handle, [...records.values()])
        if (checkpoint && text !== this.#saved)
          await this.#deps.runs.saveCheckpoint(tx, this.#order, checkpoint)
        await this.#deps.engine.emit(tx, ...lines.map((line) => this.#eventOf(line)))
      })
      this.#saved = text
      return true
    } catch (error) {
      // Written twice, a record is the same; a line is two.
      this.#records = new Map([...records, ...this.#records])
      if (since === undefined) this.#lines = [...lines, ...this.#lines]
      else this.#undecided = { lines, since, error }
      // The lease goes on for a while; if the ledger does not come back in time, the worker stops this run.
      if (!isAppError(error, ERRORS.LEDGER_UNAVAILABLE)) throw error
      this.#deps.context.log.warn({ err: error }, 'the journal of a run waits for the ledger')
      return false
    }
  }

  /** Finds out what became of a write that was broken off. False while the ledger cannot say. */
  async #isDecided(): Promise<boolean> {
    if (!this.#undecided) return true
    const { lines, since, error } = this.#undecided
    const { engine, runs } = this.#deps
    const outcome = await settle(engine.ledger, error, {
      isMade: () => runs.hasLogged(this.#order.run_id, since),
      undo: async () => {
        this.#lines = [...lines, ...this.#lines]
      },
    })
    if (outcome === 'undecided') return false
    this.#undecided = undefined
    return true
  }

  #eventOf(line: Line) {
    const { run_id, handle } = this.#order
    return {
      type: 'run_log',
      kind: 'run',
      projectId: null,
      taskId: run_id,
      jobId: this.#deps.context.job.id,
      data: { run_id, handle, ...line },
    }
  }
}
