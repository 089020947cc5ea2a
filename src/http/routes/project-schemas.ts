import { Type } from 'typebox'
import { nullable, Time } from './schemas.ts'

export const ProjectView = Type.Object({
  project_id: Type.String(),
  name: Type.String(),
  created_at: Time,
})

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
