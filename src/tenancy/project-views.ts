import { type Static, Type } from 'typebox'
import { nullable, Time } from '../jobs/index.ts'
import { SCOPES } from '../kernel/index.ts'
import type { ProjectKey } from './project-keys.ts'
import type { Project } from './project-store.ts'

/** How a project looks to the admin, over HTTP and in commands. */
export type ProjectView = Static<typeof ProjectView>
export const ProjectView = Type.Object(
  {
    project_id: Type.String(),
    name: Type.String(),
    created_at: Time,
  },
  { title: 'Project' },
)

export const Scopes = Type.Array(Type.Enum([...SCOPES]), { minItems: 1, uniqueItems: true })

export type KeyView = Static<typeof KeyView>
export const KeyView = Type.Object(
  {
    key_id: Type.String(),
    name: Type.String(),
    scopes: Scopes,
    created_at: Time,
    expires_at: nullable(Time),
    last_used_at: nullable(Type.String({ format: 'date-time', description: 'to the minute; null: never' })),
  },
  { title: 'Key' },
)

export function projectView({ id, name, createdAt }: Project): ProjectView {
  return { project_id: id, name, created_at: time(createdAt) }
}

export function keyView(key: ProjectKey): KeyView {
  return {
    key_id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    created_at: time(key.createdAt),
    expires_at: key.expiresAt === null ? null : time(key.expiresAt),
    last_used_at: key.lastUsedAt === null ? null : time(key.lastUsedAt),
  }
}

function time(at: number): string {
  return new Date(at).toISOString()
}
