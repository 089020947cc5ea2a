import { type Static, Type } from 'typebox'
import { nullable, Time } from '../jobs/index.ts'
import type { Session } from './sessions.ts'

export const ProjectRole = Type.Enum(['operator', 'viewer'])

/** A session as the admin sees it. */
export type ListedSession = Static<typeof ListedSession>
export const ListedSession = Type.Object(
  {
    session_id: Type.String(),
    by: Type.Enum(['token', 'key', 'person']),
    key_id: nullable(Type.String()),
    subject: nullable(Type.String()),
    name: nullable(Type.String()),
    roles: nullable(
      Type.Object({
        admin: Type.Boolean(),
        viewer: Type.Boolean(),
        projects: Type.Record(Type.String(), ProjectRole),
      }),
    ),
    address: nullable(Type.String()),
    created_at: Time,
    expires_at: Time,
  },
  { title: 'ListedSession' },
)

export function listedSession({ id, owner, address, createdAt, expiresAt }: Session): ListedSession {
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
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  }
}
