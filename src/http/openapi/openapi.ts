import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { apiReferenceRoutes } from './api-reference.ts'
import { finishDocument } from './finish-document.ts'
import { describeOperation } from './operation.ts'
import { SECURITY_SCHEMES } from './security.ts'
import { WEBHOOKS } from './webhooks.ts'

/** Every operation has exactly one of these. */
const TAGS = [
  { name: 'exports', description: 'Page a source and make a file; templates, saved exports, connections' },
  { name: 'transfers', description: 'Deliver a file to many hosts; the repository and the agents' },
  { name: 'runs', description: 'Accounts and the runs that download their feeds' },
  {
    name: 'processing',
    description: 'Resumable uploads (tus 1.0), the tasks made of them, and their results',
  },
  { name: 'events', description: 'The event log; `GET /ws` sends the same messages over a WebSocket' },
  { name: 'projects', description: 'Projects, their keys, quotas and masks' },
  { name: 'sessions', description: 'Who is signed in, and how' },
  { name: 'audit', description: 'Who did what' },
  { name: 'overview', description: 'The state of the installation' },
  { name: 'health', description: 'For load balancers and monitoring' },
  { name: 'samples', description: 'A source to try exports on' },
]

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
