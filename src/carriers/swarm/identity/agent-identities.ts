import { createPublicKey, type KeyObject } from 'node:crypto'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { type Ledger, now, type Tx } from '../../../ledger/index.ts'
import { hashSecret, newSecret } from '../../../tenancy/index.ts'
import { type AgentName, keyIdOf, readAgentKey } from '../wire/index.ts'
import { LEAF_MS } from './authority.ts'

export interface AgentIdentity extends AgentName {
  keyId: string
  publicKey: KeyObject
}

const TOKEN_MS = 15 * 60_000

/** Who may call himself an agent: each has one key, which it was enrolled with by a token that an admin made for it. */
export class AgentIdentities {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** A secret that enrols this agent once, for a quarter of an hour. */
  async invite(tx: Tx, { agentId, containerId }: AgentName): Promise<{ secret: string; expiresAt: number }> {
    const secret = newSecret('wae_')
    const at = await tx.now()
    const expiresAt = at + TOKEN_MS
    await tx.db.deleteFrom('swarm_enrollments').where('expires_at', '<', at).execute()
    await tx.db
      .insertInto('swarm_enrollments')
      .values({
        token_hash: hashSecret(secret),
        agent_id: agentId,
        container_id: containerId,
        expires_at: expiresAt,
        used_by: null,
      })
      .execute()
    return { secret, expiresAt }
  }

  async isInvited(secret: string): Promise<boolean> {
    return (await this.#invitation(this.#ledger, secret)) !== undefined
  }

  /**
   * Makes this key the agent's. A key that it had before is revoked: the answer says so to its owner. The same token with
   * the same key may come again, from an agent that did not hear the answer.
   */
  async enroll(
    secret: string,
    { agentId, containerId, publicKey: pem }: AgentName & { publicKey: string },
  ): Promise<{ revoked: string[] }> {
    const keyId = keyIdOf(readAgentKey(pem))
    return this.#ledger.transaction(async (tx) => {
      const invitation = await this.#invitation(tx, secret)
      if (invitation?.agent_id !== agentId || invitation.container_id !== containerId)
        throw refused('the token is not for this agent, or no longer good')
      if (invitation.used_by === keyId) return { revoked: [] }
      const { numUpdatedRows } = await tx.db
        .updateTable('swarm_enrollments')
        .set({ used_by: keyId })
        .where('token_hash', '=', hashSecret(secret))
        .where('used_by', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows !== 1n) throw refused('the token was used')
      const revoked = await this.revoke(tx, { agentId, containerId })
      await tx.db
        .insertInto('swarm_identities')
        .values({
          key_id: keyId,
          agent_id: agentId,
          container_id: containerId,
          public_key: pem,
          enrolled_at: now,
          revoked_at: null,
        })
        .execute()
      return { revoked }
    })
  }

  async find({ agentId, containerId }: AgentName): Promise<AgentIdentity | undefined> {
    const row = await this.#ledger.db
      .selectFrom('swarm_identities')
      .select(['key_id', 'public_key'])
      .where('agent_id', '=', agentId)
      .where('container_id', '=', containerId)
      .where('revoked_at', 'is', null)
      .executeTakeFirst()
    return row && { agentId, containerId, keyId: row.key_id, publicKey: createPublicKey(row.public_key) }
  }

  /** Ends the agent's key, and its open invitations. The ids of keys that were good until now. */
  async revoke(tx: Tx, { agentId, containerId }: AgentName): Promise<string[]> {
    const forgotten = (await tx.now()) - LEAF_MS
    await tx.db.deleteFrom('swarm_identities').where('revoked_at', '<', forgotten).execute()
    const rows = await tx.db
      .updateTable('swarm_identities')
      .set({ revoked_at: now })
      .where('agent_id', '=', agentId)
      .where('container_id', '=', containerId)
      .where('revoked_at', 'is', null)
      .returning('key_id')
      .execute()
    await tx.db
      .deleteFrom('swarm_enrollments')
      .where('agent_id', '=', agentId)
      .where('container_id', '=', containerId)
      .where('used_by', 'is', null)
      .execute()
    return rows.map(({ key_id }) => key_id)
  }

  /** Keys that must not be believed although a certificate of theirs may still be good. */
  async revoked(): Promise<string[]> {
    const since = (await this.#ledger.now()) - LEAF_MS
    const rows = await this.#ledger.db
      .selectFrom('swarm_identities')
      .select('key_id')
      .where('revoked_at', '>=', since)
      .execute()
    return rows.map(({ key_id }) => key_id)
  }

  async #invitation(ledger: Pick<Ledger, 'db' | 'now'>, secret: string) {
    const row = await ledger.db
      .selectFrom('swarm_enrollments')
      .select(['agent_id', 'container_id', 'used_by', 'expires_at'])
      .where('token_hash', '=', hashSecret(secret))
      .executeTakeFirst()
    return row && Number(row.expires_at) > (await ledger.now()) ? row : undefined
  }
}

function refused(message: string): AppError {
  return new AppError(ERRORS.UNAUTHENTICATED, message, { retryable: false })
}
