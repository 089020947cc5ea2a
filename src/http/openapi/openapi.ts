import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { apiReferenceRoutes } from './api-reference.ts'
import { finishDocument } from './finish-document.ts'
import { describeOperation } from './operation.ts'
import { SECURITY_SCHEMES } from './security.ts'
import { TAGS } from './tags.ts'
import { WEBHOOKS } from './webhooks.ts'

/** OpenAPI 3.1 made from the routes' schemas, at `/openapi.json` and readable at `/docs`. */
export async function registerOpenApi(
  app: FastifyInstance,
  { version, docs, publicUrl }: { version: string; docs: boolean; publicUrl: string | null },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Wharf',
        version,
        description: 'A self-hosted download center: slow work that ends in a file.',
        contact: { name: 'The administrator of this installation' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: publicUrl?.replace(/\/+$/, '') ?? '/', description: 'This installation' }],
      tags: TAGS,
      components: { securitySchemes: SECURITY_SCHEMES },
      webhooks: WEBHOOKS as never,
    },
    transform: describeOperation as never,
    transformObject: (document) =>
      'openapiObject' in document ? finishDocument(document.openapiObject) : document.swaggerObject,
  })
  if (!docs) return
  apiReferenceRoutes(app)
  app.get('/openapi.json', { config: { access: 'open' }, schema: { hide: true } }, async () => app.swagger())
}
