import { sql } from 'kysely'
import pg from 'pg'
import { background, type Log } from '../../kernel/index.ts'
import type { Ledger } from '../ledger.ts'
import { SESSION_LIMITS, sessionSettings } from './session-settings.ts'

const WHARF_LOCK = 0x77_68_61_72
const RETRY_MS = 1_000
const ANSWER_MS = 5_000

/**
 * Held by the one instance that may run without Redis, for as long as it lives. The lock belongs to a connection, so
 * it goes with a restart of the server: then it is taken again as soon as the server is back.
 */
export class OnlyInstanceLock {
  /** Whether some instance has it. */
  static async isTaken({ db }: Ledger): Promise<boolean> {
    const { rows } = await sql<{
      free: boolean
    }>`select pg_try_advisory_xact_lock_shared(${WHARF_LOCK}) as free`.execute(db)
    return rows[0]?.free === false
  }

  readonly #url: string
  readonly #log: Log
  #client: pg.Client | undefined
  #retry: NodeJS.Timeout | undefined
  #released = false

  constructor(url: string, log: Log) {
    this.#url = url
    this.#log = log
  }

  /** False if another instance has it. */
  async take(): Promise<boolean> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'wharf-only-instance',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      ...sessionSettings(SESSION_LIMITS),
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
        WHARF_LOCK,
      ])
      if (!rows[0]?.locked || this.#released) {
        await client.end()
        return false
      }
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    this.#client = client
    client.once('end', () => this.#takeAgain())
    return true
  }

  async release(): Promise<void> {
    this.#released = true
    clearTimeout(this.#retry)
    await this.#client?.end().catch(() => undefined)
  }

  #takeAgain(): void {
    if (this.#released) return
    const take = () => background('taking the lock of the only instance again', this.#tryAgain())
    this.#retry = setTimeout(take, RETRY_MS)
    this.#retry.unref()
  }

  async #tryAgain(): Promise<void> {
    try {
      if (await this.take()) return
      if (!this.#released)
        this.#log.error('another Wharf has begun to run on this DATABASE_URL: stop one of them')
    } catch (error) {
      this.#log.warn({ err: error }, 'the lock of the only instance is not back yet')
    }
    this.#takeAgain()
  }
}
