import type { FastifySchema, RouteOptions } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { NO_BODY } from '../limits/index.ts'
import { securityOf } from './security.ts'

/** An answer that no serializer writes: a file, a stream, or headers alone. */
export interface DocumentedAnswer {
  description: string
  headers?: Record<string, TSchema>
  content?: Record<string, { schema: TSchema }>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the API document says beyond the schemas that are checked at run time. */
    documented?: { headers?: Record<string, TSchema>; answers?: Record<number, DocumentedAnswer> }
  }
}

type Documented = FastifySchema & { operationId?: string; description?: string }

const IDEMPOTENCY_KEY = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[\\x21-\\x7e]+$',
    description:
      'Chosen by the caller. A repeated request with the same key and body makes nothing new and gets the first answer, with `Idempotency-Replayed: true`.',
  }),
)

export const BYTES = Type.String({ format: 'binary' })

/** The last parameter of a path that has slashes in it. */
const REST_OF_PATH = Type.Object({
  path: Type.String({
    minLength: 1,
    description: 'A path with slashes, such as `tools/agent.tar.gz`; a slash may be sent as it is or as %2F',
  }),
})

/** What a route's schema does not say: who may call it, headers, bodies that are files, and the path as OpenAPI writes it. */
export function describeOperation({
  schema = {},
  url,
  route: { config = {} },
}: {
  schema?: Documented
  url: string
  route: RouteOptions
}): { schema: Documented; url: string } {
  const { security, text } = securityOf(config)
  const { headers = {}, answers = {} } = config.documented ?? {}
  const sent = { ...(config.idempotent && { 'Idempotency-Key': IDEMPOTENCY_KEY }), ...headers }
  const operationId = schema.operationId?.replace(/-head$/, '')
  const rest = url.endsWith('/*')
  return {
    schema: {
      ...schema,
      ...(operationId !== undefined && { operationId }),
      description: [schema.description, text].filter((line) => line !== undefined).join('\n\n'),
      security,
      ...(rest && { params: REST_OF_PATH }),
      ...(config.file && { body: fileBody(url) }),
      ...(schema.body === NO_BODY && { body: undefined }),
      ...(Object.keys(sent).length > 0 && { headers: Type.Object(sent) }),
      response: { ...(schema.response as object), ...answers },
    },
    url: rest ? `${url.slice(0, -1)}:path` : url.replace(/(?<=.)\/$/, ''),
  }
}

function fileBody(url: string) {
  const type = url.startsWith('/api/uploads') ? 'application/offset+octet-stream' : 'application/octet-stream'
  return { content: { [type]: { schema: BYTES } } }
}
