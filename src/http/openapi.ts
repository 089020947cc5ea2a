import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { PROBLEM_TYPE } from './answers/index.ts'
import { apiReferenceRoutes } from './api-reference.ts'

const PROBLEM = {
  description: 'A problem (RFC 9457); its codes stand in docs/errors.md',
  content: {
    [PROBLEM_TYPE]: {
      schema: Type.Object({
        type: Type.String(),
        title: Type.String(),
        status: Type.Integer(),
        code: Type.String({ description: 'Stable, for programs' }),
        detail: Type.String({ description: 'For people' }),
        instance: Type.String(),
      }),
    },
  },
}

/** OpenAPI 3.1 out of the routes' own schemas, at `/openapi.json` and readable at `/docs`. */
export async function registerOpenApi(
  app: FastifyInstance,
  { version, docs }: { version: string; docs: boolean },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Wharf',
        version,
        description: 'A self-hosted download center.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: "A project's key, or the admin token" },
        },
        responses: { Problem: PROBLEM },
      },
      security: [{ key: [] }],
    },
    transformObject: (document) => {
      if ('openapiObject' in document) addProblems(document.openapiObject.paths)
      return 'openapiObject' in document ? document.openapiObject : document.swaggerObject
    },
  })
  if (!docs) return
  apiReferenceRoutes(app)
  app.get('/openapi.json', { config: { access: 'open' }, schema: { hide: true } }, async () => app.swagger())
}

/** Whatever goes wrong is told in the same way by every route. */
function addProblems(paths: object = {}): void {
  for (const path of Object.values(paths))
    for (const operation of Object.values(path as Record<string, { responses?: object }>))
      operation.responses = { ...operation.responses, default: { $ref: '#/components/responses/Problem' } }
}
