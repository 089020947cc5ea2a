import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** OpenAPI 3.1 out of the routes' own schemas, at `/openapi.json` and readable at `/docs`. */
export async function registerOpenApi(app: FastifyInstance, version: string): Promise<void> {
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
      },
      security: [{ key: [] }],
    },
  })
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, logLevel: 'silent' })
  app.get('/openapi.json', { config: { access: 'open' }, schema: { hide: true } }, async () => app.swagger())
}
