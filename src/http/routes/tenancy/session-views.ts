import type { Static } from 'typebox'
import type { Session } from '../../../tenancy/index.ts'
import type { ListedSession } from './session-schemas.ts'

/** A session as the admin sees it. */
export function listedSession(session: Session): Static<typeof ListedSession> {
  const { id, owner, address } = session
  const person = owner.kind === 'person' ? owner.person : null
  return {
    session_id: id,
    by: owner.kind,
    key_id: owner.kind === 'key' ? owner.keyId : null,
    subject: person?.subject ?? null,
    name: person?.name ?? null,
    roles: person && {
      admin: person.roles.admin,
      viewer: person.roles.viewer,
      projects: { ...person.roles.projects },
    },
    address,
    created_at: new Date(session.createdAt).toISOString(),
    expires_at: new Date(session.expiresAt).toISOString(),
  }
}
