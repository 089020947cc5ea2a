import { Type } from 'typebox'
import { SCOPES } from '../../engine/index.ts'
import { nullable, Time } from './schemas.ts'

export const ProjectView = Type.Object({
  project_id: Type.String(),
  name: Type.String(),
  created_at: Time,
})

const BizId = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })

export const ProjectDetails = Type.Intersect([
  ProjectView,
  Type.Object({ biz_ids: Type.Array(BizId, { description: 'what transfers may name as biz_id' }) }),
])

export const ProjectChanges = Type.Object(
  {
    biz_ids: Type.Optional(
      Type.Array(BizId, {
        maxItems: 10_000,
        uniqueItems: true,
        description: 'exactly these belong to the project: taken from others, and free again when left out',
      }),
    ),
  },
  { additionalProperties: false },
)

export const NewProject = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 200 }) },
  { additionalProperties: false },
)

export const Secrets = Type.Object({ api_key: Type.String(), webhook_secret: Type.String() })

const Scopes = Type.Array(Type.Enum([...SCOPES]), { minItems: 1, uniqueItems: true })

export const NewKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    scopes: Scopes,
    expires_at: Type.Optional(Time),
  },
  { additionalProperties: false },
)

export const KeyView = Type.Object({
  key_id: Type.String(),
  name: Type.String(),
  scopes: Scopes,
  created_at: Time,
  expires_at: nullable(Time),
})

export const OneKey = Type.Object({ project_id: Type.String(), key_id: Type.String() })

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
  { additionalProperties: false },
)

export const Rotated = Type.Object({
  project_id: Type.String(),
  api_key: Type.Optional(Type.String()),
  key_id: Type.Optional(Type.String()),
  webhook_secret: Type.Optional(Type.String()),
  old_expires_at: Time,
})

export const Session = Type.Object({
  role: Type.Enum(['admin', 'project']),
  project_id: nullable(Type.String()),
  project_name: nullable(Type.String()),
  scopes: nullable(Scopes),
  seq: Type.Integer({ description: 'the newest event; what is read after this answer is at least as new' }),
})
