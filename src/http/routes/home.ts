import type { FastifyPluginAsync } from 'fastify'

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Wharf</title>
<link rel="stylesheet" href="/home.css">
<main>
  <h1>Wharf</h1>
  <p>The download center is running. Business systems hand it slow work that ends in a file and go on with their own.</p>
  <ul>
    <li><a href="/docs">API reference</a> (<a href="/openapi.json">OpenAPI</a>)</li>
    <li><a href="/readyz">Readiness</a>, <a href="/metrics">metrics</a></li>
  </ul>
</main>
</html>
`

const STYLE = `:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
main { max-width: 40rem; margin: 12vh auto; padding: 0 1rem }
`

/** What a browser sees at the root. */
export const homeRoutes: FastifyPluginAsync = async (app) => {
  const options = { config: { access: 'open' as const }, schema: { hide: true } }
  app.get('/', options, async (_request, reply) => reply.type('text/html; charset=utf-8').send(PAGE))
  app.get('/home.css', options, async (_request, reply) => reply.type('text/css; charset=utf-8').send(STYLE))
}
