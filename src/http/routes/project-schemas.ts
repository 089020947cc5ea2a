import { Type } from 'typebox'
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

export const Session = Type.Object({
  role: Type.Enum(['admin', 'project']),
  project_id: nullable(Type.String()),
  project_name: nullable(Type.String()),
  seq: Type.Integer({ description: 'the newest event; what is read after this answer is at least as new' }),
})
