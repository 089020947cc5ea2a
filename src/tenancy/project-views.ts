import { type Static, Type } from 'typebox'
import { nullable, Time } from '../jobs/index.ts'
import { SCOPES, SHOWN_NAME } from '../kernel/index.ts'
import type { ProjectKey } from './project-keys.ts'
import type { Project, ProjectSecrets, RotatedSecret } from './project-store.ts'

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

export const ShownName = Type.String({ minLength: 1, maxLength: 200, pattern: SHOWN_NAME.source })

/** A key right after it was made. */
export type NewKeyView = Static<typeof NewKeyView>
export const NewKeyView = Type.Intersect([KeyView, Type.Object({ api_key: Type.String() })])

export type NewKey = Static<typeof NewKey>
export const NewKey = Type.Object(
  {
    name: ShownName,
    scopes: Scopes,
    expires_at: Type.Optional(Time),
  },
  {
    title: 'KeyRequest',
    examples: [{ name: 'reports', scopes: ['exports:read'] }],
    additionalProperties: false,
  },
)

/** A project right after it was made: the only time that its secrets are shown. */
export type NewProjectView = Static<typeof NewProjectView>
export const NewProjectView = Type.Intersect([
  ProjectView,
  Type.Object({ api_key: Type.String(), webhook_secret: Type.String() }, { title: 'ProjectSecrets' }),
])

export type Rotation = Static<typeof Rotation>
export const Rotation = Type.Object(
  {
    what: Type.Enum(['api_key', 'webhook_secret']),
    grace_hours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 720,
        description: 'how long the old one stays good; 24 when missing',
      }),
    ),
  },
  { title: 'RotationRequest', examples: [{ what: 'api_key', grace_hours: 24 }], additionalProperties: false },
)

export type Rotated = Static<typeof Rotated>
export const Rotated = Type.Object(
  {
    project_id: Type.String(),
    api_key: Type.Optional(Type.String()),
    key_id: Type.Optional(Type.String()),
    webhook_secret: Type.Optional(Type.String()),
    old_expires_at: nullable(Time),
  },
  { title: 'Rotated' },
)

export function projectView({ id, name, createdAt }: Project): ProjectView {
  return { project_id: id, name, created_at: time(createdAt) }
}

export function newProjectView(project: Project & ProjectSecrets): NewProjectView {
  return { ...projectView(project), api_key: project.apiKey, webhook_secret: project.webhookSecret }
}

export function rotatedView(
  projectId: string,
  what: Rotation['what'],
  { secret, keyId, oldUntil }: RotatedSecret,
): Rotated {
  return {
    project_id: projectId,
    [what]: secret,
    ...(keyId !== null && { key_id: keyId }),
    old_expires_at: oldUntil === null ? null : time(oldUntil),
  }
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
