import pg from 'pg'
import { cpuMsOf } from '../cpu-time.ts'

/** The processor time that PostgreSQL's processes have spent on the clients of one database, this one left out. */
export class BackendTimes {
  readonly #client: pg.Client
  readonly #seen = new Map<number, number>()

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async open(url: string): Promise<BackendTimes> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return new BackendTimes(client)
  }

  /** What a process had spent when it was last seen stays in the sum. */
  async spentMs(): Promise<number> {
    const { rows } = await this.#client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
        and pid <> pg_backend_pid()`,
    )
    for (const { pid } of rows) this.#seen.set(pid, cpuMsOf(pid) ?? this.#seen.get(pid) ?? 0)
    return [...this.#seen.values()].reduce((sum, ms) => sum + ms, 0)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
