import { statfs } from 'node:fs/promises'
import { AppError, type Clock, ERRORS } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'

/** A disk with less than this is full. */
const LITTLE_ROOM = 1024 * 1024
const FRESH_MS = 1_000
/** These write nothing large, or free space. */
const HARMLESS = /\/(ticket|cancel|preview)$/
const WRITES = new Set(['POST', 'PUT', 'PATCH'])

/** Whether the disks of this instance have free space: without it, nothing new is accepted, and all else goes on. */
export class DiskRoom {
  readonly #clock: Clock
  readonly #folders: readonly string[]
  readonly #ledger: Pick<Ledger, 'misplaced'>
  #known: { at: number; full: Promise<boolean> } | undefined

  constructor(clock: Clock, folders: readonly string[], ledger: Pick<Ledger, 'misplaced'>) {
    this.#ledger = ledger
    this.#clock = clock
    this.#folders = folders
  }

  isFull(): Promise<boolean> {
    const now = this.#clock.now()
    if (!this.#known || now - this.#known.at >= FRESH_MS || now < this.#known.at)
      this.#known = { at: now, full: this.#look() }
    return this.#known.full
  }

  /** Throws for a request that would write to a full disk, or to a data dir that was moved away. */
  async require(method: string, route: string): Promise<void> {
    if (!WRITES.has(method) || HARMLESS.test(route)) return
    const misplaced = this.#ledger.misplaced()
    if (misplaced !== undefined) throw new AppError(ERRORS.LEDGER_UNAVAILABLE, misplaced, { retryAfter: 30 })
    if (!(await this.isFull())) return
    throw new AppError(ERRORS.STORAGE_FULL, 'the disk is full, so nothing new is accepted', {
      retryAfter: 30,
    })
  }

  /** A folder that cannot be looked at says nothing; a write there finds out. */
  async #look(): Promise<boolean> {
    const rooms = await Promise.all(
      this.#folders.map((folder) =>
        statfs(folder).then(
          ({ bavail, bsize }) => bavail * bsize,
          () => Number.POSITIVE_INFINITY,
        ),
      ),
    )
    return Math.min(...rooms) < LITTLE_ROOM
  }
}
