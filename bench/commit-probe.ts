import pg from 'pg'
import { quantile } from './report.ts'

const EVERY_MS = 100

/**
 * How long a bare commit takes on this machine meanwhile: one row, one fsync, a connection of its own. A latency that
 * holds a commit cannot be shorter, and on a busy machine this says how much of it is the machine's.
 */
export class CommitProbe {
  readonly #client: pg.Client
  readonly #times: number[] = []
  #timer: NodeJS.Timeout | undefined

  /** `adminUrl`: a database whose statements nobody counts. */
  constructor(adminUrl: string) {
    this.#client = new pg.Client({ connectionString: adminUrl })
  }

  async start(): Promise<void> {
    await this.#client.connect()
    await this.#client.query('create table if not exists probe (at timestamptz)')
    this.#timer = setInterval(() => void this.#commit(), EVERY_MS)
  }

  /** The median in milliseconds. */
  async stop(): Promise<number | undefined> {
    clearInterval(this.#timer)
    await this.#client.end()
    return quantile(this.#times, 0.5)
  }

  async #commit(): Promise<void> {
    const start = performance.now()
    await this.#client.query('insert into probe values (now())')
    this.#times.push(performance.now() - start)
  }
}
