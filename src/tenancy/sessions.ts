import { type Selectable, sql } from 'kysely'
import type { Bus } from '../jobs/index.ts'
import { AppError, type Duty, ERRORS, newId } from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'
import type { Grant } from './project-keys.ts'
import type { ProjectStore } from './project-store.ts'
import { hashSecret, newSecret } from './secrets.ts'
import type { SessionsTable } from './tables.ts'

/** What a person may do: everything, the work of projects, or looking at everything. */
export interface Roles {
  admin: boolean
  viewer: boolean
  /** By project id. */
  projects: Readonly<Record<string, 'operator' | 'viewer'>>
}

/** A person whom the identity provider has identified. */
export interface Person {
  /** The provider's own name for this person, which stays. */
  subject: string
  /** For people. */
  name: string
  roles: Roles
}

/** Whose session it is. */
export type SessionOwner =
  | { kind: 'token' }
  | { kind: 'key'; keyId: string }
  | { kind: 'person'; person: Person }

export interface Session {
  id: string
  owner: SessionOwner
  address: string | null
  createdAt: number
  expiresAt: number
}

export interface SessionsDeps {
  ledger: Ledger
  projects: ProjectStore
  /** Gets a message when sessions end, so that every instance closes what they opened. */
  bus: Bus
}

export interface SessionsOptions {
  validMs: number
  /** The admin token of the settings; sessions that another one opened are over. */
  adminTokenHash: string
  /** Who names people; null: nobody may. */
  issuer: string | null
}

/** With more sessions of one owner, the oldest end: signing in must not fill the ledger. */
const MOST_PER_OWNER = 100
const MOST_LISTED = 1_000
const FORM = /^wharf_session_[\w-]{43}$/

/**
 * Sign-ins of browsers. Nothing of a session is remembered outside the ledger, so one that was ended is refused by every
 * instance from the commit on, and one that goes on survives a restart. A key's sessions go with the key's row.
 */
export class Sessions implements Duty {
  readonly name = 'sessions'
  readonly #deps: SessionsDeps
  readonly #validMs: number
  readonly #tokenMark: string
  readonly #issuerMark: string

  constructor(deps: SessionsDeps, { validMs, adminTokenHash, issuer }: SessionsOptions) {
    this.#deps = deps
    this.#validMs = validMs
    this.#tokenMark = `token ${hashSecret(adminTokenHash)}`
    this.#issuerMark = issuer === null ? '' : `issuer ${issuer}`
  }

  /** The secret is for the cookie, and kept nowhere. */
  async create(tx: Tx, owner: SessionOwner, address: string): Promise<Session & { secret: string }> {
    const secret = newSecret('wharf_session_')
    const person = owner.kind === 'person' ? owner.person : null
    const createdAt = await tx.now()
    const row = await tx.db
      .insertInto('sessions')
      .values({
        id: newId(),
        hash: hashSecret(secret),
        owner: this.#nameOf(owner),
        mark: this.#markOf(owner),
        key_id: owner.kind === 'key' ? owner.keyId : null,
        subject: person?.subject ?? null,
        name: person?.name ?? null,
        roles: person ? JSON.stringify(person.roles) : null,
        address,
        created_at: createdAt,
        expires_at: createdAt + this.#validMs,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await this.#endOldest(tx, row.owner)
    return { ...toSession(row), secret }
  }

  async #endOldest(tx: Tx, owner: string): Promise<void> {
    const old = await tx.db
      .selectFrom('sessions')
      .select('id')
      .where('owner', '=', owner)
      .orderBy('created_at', 'desc')
      .limit(MOST_PER_OWNER)
      .offset(MOST_PER_OWNER)
      .execute()
    for (const { id } of old) await this.end(tx, id)
  }

  /** The session of a cookie, if it is good. Found by its hash: comparing takes no secret-dependent time. */
  async find(secret: string): Promise<Session | undefined> {
    if (!FORM.test(secret)) return undefined
    const row = await this.#good().where('hash', '=', hashSecret(secret)).executeTakeFirst()
    return row && toSession(row)
  }

  async get(id: string): Promise<Session | undefined> {
    const row = await this.#good().where('id', '=', id).executeTakeFirst()
    return row && toSession(row)
  }

  /** Those that are good, the last to end first. */
  async list(): Promise<Session[]> {
    const rows = await this.#good().orderBy('expires_at', 'desc').limit(MOST_LISTED).execute()
    return rows.map(toSession)
  }

  #good() {
    return this.#deps.ledger.db
      .selectFrom('sessions')
      .selectAll()
      .where('expires_at', '>', now)
      .where((eb) =>
        eb.or([eb('mark', 'is', null), eb('mark', '=', this.#tokenMark), eb('mark', '=', this.#issuerMark)]),
      )
  }

  /** Ends a session at once, with what it opened. */
  async end(tx: Tx, id: string): Promise<void> {
    const { numDeletedRows } = await tx.db.deleteFrom('sessions').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw new AppError(ERRORS.SESSION_NOT_FOUND, `there is no session ${id}`)
    tx.afterCommit(() => this.#deps.bus.publish('keys', {}))
  }

  /** Which of these are over: project, key or session is. */
  async ended<G extends Grant>(grants: readonly G[]): Promise<G[]> {
    const over = new Set(await this.#deps.projects.keys.ended(grants))
    const ids = [...new Set(grants.flatMap(({ sessionId }) => sessionId ?? []))]
    if (ids.length > 0) {
      const rows = await this.#good().where('id', 'in', ids).execute()
      const good = new Set(rows.map(({ id }) => id))
      for (const grant of grants) if (grant.sessionId && !good.has(grant.sessionId)) over.add(grant)
    }
    return grants.filter((grant) => over.has(grant))
  }

  async holds(grant: Grant): Promise<boolean> {
    return (await this.ended([grant])).length === 0
  }

  /** Deletes those that are past their end. */
  async runOnce(): Promise<void> {
    await this.#deps.ledger.maintenance((db) =>
      db.deleteFrom('sessions').where('expires_at', '<=', sql<number>`wharf_now()`).execute(),
    )
  }

  #nameOf(owner: SessionOwner): string {
    if (owner.kind === 'person') return `person ${owner.person.subject}`
    return owner.kind === 'key' ? `key ${owner.keyId}` : 'token'
  }

  #markOf({ kind }: SessionOwner): string | null {
    return kind === 'key' ? null : kind === 'token' ? this.#tokenMark : this.#issuerMark
  }
}

function toSession(row: Selectable<SessionsTable>): Session {
  const { subject, name, roles } = row
  const person = { subject: subject ?? '', name: name ?? '', roles: JSON.parse(roles ?? 'null') as Roles }
  return {
    id: row.id,
    owner:
      row.key_id !== null
        ? { kind: 'key', keyId: row.key_id }
        : subject === null
          ? { kind: 'token' }
          : { kind: 'person', person },
    address: row.address,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}
