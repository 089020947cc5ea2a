import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Ledger, now, type Sealer, type Tx } from '../engine/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'

export interface Answer {
  status: number
  body: unknown
  headers?: Record<string, string>
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
    const key = request.headers['idempotency-key']
    if (key === undefined) return send(reply, await this.#deps.ledger.transaction(make))
    if (typeof key !== 'string' || !KEY_FORM.test(key)) {
      throw new AppError(
        ERRORS.IDEMPOTENCY_KEY_INVALID,
        'Idempotency-Key takes 1 to 255 visible ASCII characters',
      )
    }
    const scope = request.principal?.role === 'project' ? request.principal.project.id : 'admin'
    return send(reply, await this.#once(scope, key, fingerprintOf(request), make))
  }

  #once(scope: string, key: string, fingerprint: string, make: (tx: Tx) => Promise<Answer>): Promise<Answer> {
    return this.#deps.ledger.transaction(async (tx) => {
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
      const answer = await make(tx)
      // Sealed, because an answer may hold a key that is stored nowhere else.
      const body = this.#deps.sealer.seal(JSON.stringify(answer.body))
      const headers = JSON.stringify(answer.headers ?? {})
      await tx.db
        .insertInto('idempotency')
        .values({ scope, key, fingerprint, status: answer.status, headers, body, created_at: now })
        .execute()
      return answer
    })
  }
}

async function send(reply: FastifyReply, { status, body, headers = {} }: Answer): Promise<void> {
  await reply.code(status).headers(headers).send(body)
}

function fingerprintOf(request: FastifyRequest): string {
  const hash = createHash('sha256').update(`${request.method} ${request.url}\n`)
  return hash.update(JSON.stringify(request.body ?? null)).digest('base64url')
}
