import { createReadStream, existsSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/** In a checkout the files are where npm puts them; an installed package and the container have them beside the console. */
const PLACES = ['../../../dist/reference/', '../../../node_modules/@fastify/swagger-ui/static/']
const FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Addresses are relative to `/docs/…` by their whole path: the page has no trailing slash. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Wharf: API reference</title>
<link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png">
<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/start.js"></script>
</html>
`
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null })
`

/** `/docs`: Swagger UI on `/openapi.json`. It asks for nothing by https, so it works on whatever address it is opened. */
export function apiReferenceRoutes(app: FastifyInstance): void {
  const options = { config: { access: 'open' as const }, schema: { hide: true } }
  const folder = PLACES.map((place) => new URL(place, import.meta.url)).find((place) => existsSync(place))
  app.get('/docs', options, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('Content-Security-Policy', POLICY).send(PAGE),
  )
  app.get('/docs/static/start.js', options, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(START),
  )
  if (folder === undefined) return
  for (const [file, type] of Object.entries(FILES))
    app.get(`/docs/static/${file}`, options, async (_request, reply) =>
      reply
        .type(type)
        .header('Cache-Control', 'public, max-age=3600')
        .send(createReadStream(new URL(file, folder))),
    )
}
