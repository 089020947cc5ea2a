import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type Ledger, now, type Tx } from '../../ledger/index.ts'
import type { Sealer } from '../../tenancy/index.ts'

export interface Answer {
  status: number
  body: unknown
  /** The body as it is after the commit, where that decides about it. */
  committed?(): unknown
  headers?: Record<string, string>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Takes `Idempotency-Key`: a repeated request gets the first answer. The API document says so. */
    idempotent?: boolean
  }
}

const KEY_FORM = /^[\x21-\x7e]{1,255}$/

/**
 * Makes things at most once. What is made and the answer to it are one transaction, so a crash leaves both or none:
 * asking again with the same `Idempotency-Key` either gets the first answer or makes the thing for the first time.
 */
export class Idempotency {
  readonly #deps: { ledger: Ledger; sealer: Sealer }

  constructor(deps: { ledger: Ledger; sealer: Sealer }) {
    this.#deps = deps
  }

  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    make: (tx: Tx) => Promise<Answer>,
  ): Promise<void> {
    if (!request.routeOptions.config.idempotent)
      throw new Error(
        `${request.method} ${request.routeOptions.url} must say in its config that it is idempotent`,
      )
    const key = request.headers['idempotency-key']
    if (key === undefined) {
      const made = await this.#deps.ledger.transaction(make)
      return send(reply, made.committed ? { ...made, body: made.committed() } : made)
    }
    if (typeof key !== 'string' || !KEY_FORM.test(key)) {
      throw new AppError(
        ERRORS.IDEMPOTENCY_KEY_INVALID,
        'Idempotency-Key takes 1 to 255 visible ASCII characters',
      )
    }
    const scope = request.principal?.role === 'project' ? request.principal.project.id : 'admin'
    return send(reply, await this.#once(scope, key, fingerprintOf(request), make))
  }

  async #once(
    scope: string,
    key: string,
    fingerprint: string,
    make: (tx: Tx) => Promise<Answer>,
  ): Promise<Answer> {
    const answer = await this.#deps.ledger.transaction<Answer>(async (tx) => {
      if (!(await tx.tryLock(`idempotency ${scope} ${key}`))) {
        throw new AppError(ERRORS.IDEMPOTENCY_IN_FLIGHT, 'the first request with this key is still at work', {
          retryAfter: 1,
        })
      }
      const known = await tx.db
        .selectFrom('idempotency')
        .selectAll()
        .where('scope', '=', scope)
        .where('key', '=', key)
        .executeTakeFirst()
      if (known && known.fingerprint !== fingerprint) {
        throw new AppError(
          ERRORS.IDEMPOTENCY_KEY_REUSED,
          'this Idempotency-Key was used for a request with another body',
        )
      }
      if (known) {
        const headers = {
          ...(JSON.parse(known.headers) as Record<string, string>),
          'Idempotency-Replayed': 'true',
        }
        return { status: known.status, headers, body: JSON.parse(this.#deps.sealer.open(known.body)) }
      }
      const made = await make(tx)
      const body = this.#seal(made.body)
      const headers = JSON.stringify(made.headers ?? {})
      await tx.db
        .insertInto('idempotency')
        .values({ scope, key, fingerprint, status: made.status, headers, body, created_at: now })
        .execute()
      return made
    })
    if (!answer.committed) return answer
    // Stored before it is sent: a caller that got this answer gets it again.
    const body = answer.committed()
    await this.#deps.ledger.db
      .updateTable('idempotency')
      .set({ body: this.#seal(body) })
      .where('scope', '=', scope)
      .where('key', '=', key)
      .execute()
    return { ...answer, body }
  }

  /** Sealed, because an answer may hold a key that is stored nowhere else. */
  #seal(body: unknown): string {
    return this.#deps.sealer.seal(JSON.stringify(body))
  }
}

async function send(reply: FastifyReply, { status, body, headers = {} }: Answer): Promise<void> {
  await reply.code(status).headers(headers).send(body)
}

function fingerprintOf(request: FastifyRequest): string {
  const hash = createHash('sha256').update(`${request.method} ${request.url}\n`)
  return hash.update(JSON.stringify(request.body ?? null)).digest('base64url')
}
