import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The same place from `src/` in a checkout and from `dist/` in an installed package. */
export const CONSOLE_FOLDER = new URL('../../../dist/console/', import.meta.url)

/** A placeholder in the built page for the nonce of style elements that scripts add; each answer has its own. */
const NONCE_PLACE = /__WHARF_NONCE__/g

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Wharf</title>
<main>
<h1>Wharf</h1>
<p>The download center is running, but its console is not built here: run <code>node scripts/build-console.mjs</code>.</p>
<p><a href="/docs">API reference</a></p>
</main>
</html>
`

/**
 * Answers with the console's page. Scripts come from files alone; style elements that the component library adds need
 * the nonce of this very answer, which is why the page itself is never cached.
 */
export function sendConsolePage(reply: FastifyReply): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  reply
    .code(200)
    .type('text/html; charset=utf-8')
    .headers({
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': pagePolicy(nonce),
    })
  const page = new URL('index.html', CONSOLE_FOLDER)
  if (!existsSync(page)) return reply.send(NOT_BUILT)
  return reply.send(readFileSync(page, 'utf8').replace(NONCE_PLACE, nonce))
}

function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Whether a browser asks for a page: the console routes by itself, so each of its addresses is the one page. */
export function wantsPage(request: FastifyRequest): boolean {
  const { method, url, headers } = request
  return (
    (method === 'GET' || method === 'HEAD') &&
    !/^\/(api|assets)(\/|$|\?)/.test(url) &&
    (headers.accept ?? '').includes('text/html')
  )
}
