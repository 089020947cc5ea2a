import { Type } from 'typebox'
import { ListedSession, ProjectRole, Scopes } from '../../../tenancy/index.ts'
import { nullable, Time } from '../schemas.ts'

export const SessionView = Type.Object(
  {
    role: Type.Enum(['admin', 'project']),
    project_id: nullable(Type.String()),
    project_name: nullable(Type.String()),
    scopes: nullable(Scopes),
    looks_only: Type.Boolean({ description: 'a viewer of everything, who changes nothing' }),
    person: nullable(Type.Object({ subject: Type.String(), name: Type.String() })),
    projects: Type.Array(Type.Object({ project_id: Type.String(), name: Type.String(), role: ProjectRole }), {
      description: 'those of a person; the header Wharf-Project chooses one',
    }),
    key_id: nullable(
      Type.String({ description: 'the key that was shown or that signed in; null: none was' }),
    ),
    session_id: nullable(Type.String({ description: 'null: a key was shown, and no cookie' })),
    expires_at: nullable(Time),
    seq: Type.Integer({ description: 'the newest event; what is read after this answer is at least as new' }),
  },
  { title: 'Session' },
)

export const SignInWithKey = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 500, description: "a project's key or the admin token" }) },
  { title: 'SignInRequest', additionalProperties: false },
)

export const SignInMethods = Type.Object(
  { methods: Type.Array(Type.Enum(['oidc', 'key'])) },
  { title: 'SignInMethods' },
)

export const SessionPage = Type.Object({ items: Type.Array(ListedSession) }, { title: 'SessionList' })
export const OneSession = Type.Object({ session_id: Type.String() })
