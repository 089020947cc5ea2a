import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import { Time } from '../../jobs/index.ts'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type Ledger, now, type Schema, type Tx } from '../../ledger/index.ts'
import type { HttpClient } from '../../net/index.ts'
import { AuditLog, type Sealer } from '../../tenancy/index.ts'
import { AUDIT_CONNECTION, openAuditRows } from './audit-rows.ts'
import { openSqlRows, targetFault, testTarget } from './sql/open-sql.ts'
import { DRIVERS, type Driver, type SqlRows, type SqlSource, type SqlTarget } from './sql/sql-source.ts'

/** A connection as it is shown: never with its address. */
export type ConnectionView = Static<typeof ConnectionView>
export const ConnectionView = Type.Object(
  {
    name: Type.String(),
    driver: Type.Enum([...DRIVERS]),
    projects: Type.Array(Type.String()),
    updated_at: Time,
  },
  { title: 'Connection' },
)

export type NewConnection = Static<typeof NewConnection>
export const NewConnection = Type.Object(
  {
    driver: Type.Enum([...DRIVERS]),
    url: Type.String({ minLength: 1, maxLength: 16_384, description: 'Sealed, and never shown again' }),
    projects: Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: 10_000,
      description: 'Ids of the projects that may use it',
    }),
  },
  {
    title: 'ConnectionRequest',
    examples: [{ driver: 'postgres', url: 'postgres://reader:secret@db.example.com/erp', projects: ['erp'] }],
    additionalProperties: false,
  },
)

/** The databases that exports may read, each with the projects that may. */
export class SqlConnections {
  readonly #deps: { ledger: Ledger; sealer: Sealer; http: HttpClient }

  constructor(deps: { ledger: Ledger; sealer: Sealer; http: HttpClient }) {
    this.#deps = deps
  }

  async put(tx: Tx, name: string, { driver, url, projects }: NewConnection): Promise<void> {
    checkTarget({ driver, url })
    const values = {
      driver,
      url: this.#deps.sealer.seal(url),
      projects: JSON.stringify(projects),
      updated_at: now,
    }
    await tx.db
      .insertInto('connections')
      .values({ name, ...values })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
      .execute()
  }

  async get(name: string): Promise<ConnectionView> {
    const row = await this.#find(name)
    if (!row) throw notFound(name)
    return toView(row)
  }

  /** All, by name. */
  async list(): Promise<ConnectionView[]> {
    const rows = await this.#deps.ledger.db.selectFrom('connections').selectAll().orderBy('name').execute()
    return rows.map(toView)
  }

  /** Those that a project may read, by name. */
  async grantedTo(projectId: string): Promise<Pick<ConnectionView, 'name' | 'driver'>[]> {
    const rows = await this.#deps.ledger.db
      .selectFrom('connections')
      .select(['name', 'driver', 'projects'])
      .orderBy('name')
      .execute()
    return rows
      .filter(({ projects }) => (JSON.parse(projects) as string[]).includes(projectId))
      .map(({ name, driver }) => ({ name, driver: driver as Driver }))
  }

  async delete(tx: Tx, name: string): Promise<void> {
    const { numDeletedRows } = await tx.db
      .deleteFrom('connections')
      .where('name', '=', name)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound(name)
  }

  /** Connects as an export would. */
  async test(name: string, signal: AbortSignal): Promise<void> {
    const row = await this.#find(name)
    if (!row) throw notFound(name)
    await testTarget(this.#target(row), this.#access(signal))
  }

  /** One that another project has looks like one that is not there. */
  async requireGrant(tx: Tx, projectId: string, name: string): Promise<void> {
    // Who may ask for it was decided when the request was read.
    if (name === AUDIT_CONNECTION) return
    await this.#granted(projectId, name, tx.db)
  }

  async open(projectId: string, source: SqlSource, signal: AbortSignal): Promise<SqlRows> {
    if (source.connection === AUDIT_CONNECTION) return openAuditRows(new AuditLog(this.#deps.ledger), source)
    const row = await this.#granted(projectId, source.connection)
    return openSqlRows(source, this.#target(row), this.#access(signal))
  }

  async #granted(projectId: string, name: string, db: Pick<Tx['db'], 'selectFrom'> = this.#deps.ledger.db) {
    const row = await this.#find(name, db)
    if (!row || !(JSON.parse(row.projects) as string[]).includes(projectId)) throw notFound(name)
    return row
  }

  #find(name: string, db: Pick<Tx['db'], 'selectFrom'> = this.#deps.ledger.db) {
    return db.selectFrom('connections').selectAll().where('name', '=', name).executeTakeFirst()
  }

  #target({ driver, url }: { driver: string; url: string }) {
    return { driver: driver as Driver, url: this.#deps.sealer.open(url) }
  }

  #access(signal: AbortSignal) {
    return { signal, addressOf: (host: string, port: number) => this.#deps.http.addressOf(host, port) }
  }
}

function toView(row: Selectable<Schema['connections']>): ConnectionView {
  return {
    name: row.name,
    driver: row.driver as Driver,
    projects: JSON.parse(row.projects) as string[],
    updated_at: new Date(row.updated_at).toISOString(),
  }
}

function notFound(name: string): AppError {
  return new AppError(ERRORS.CONNECTION_NOT_FOUND, `there is no connection '${name}' for this project`, {
    retryable: false,
  })
}

function checkTarget(target: SqlTarget): void {
  const message = targetFault(target)
  if (message === undefined) return
  throw new AppError(ERRORS.REQUEST_INVALID, message, { details: { errors: [{ path: 'url', message }] } })
}
