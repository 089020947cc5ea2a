import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

const DOCUMENT = new URL('../../../docs/errors.md', import.meta.url)

export interface DocumentedError {
  code: string
  http: string
  meaning: string
  advice: string
}

/** The rows of the table in `docs/errors.md`. */
export function documentedErrors(markdown: string): DocumentedError[] {
  return [...markdown.matchAll(/^\| `([A-Z0-9_]+)` +\| (\d+) +\| (.+?) \| (.+?) \|$/gm)].map(
    ([, code = '', http = '', meaning = '', advice = '']) => ({ code, http, meaning, advice }),
  )
}

/** Where the `type` of a problem leads. */
export function errorTypeOf(code: string): string {
  return `/docs/errors#${code.toLowerCase()}`
}

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
section { padding: 0.5rem 1rem; border-left: 3px solid transparent } section:target { border-left-color: #1677ff }
h2 { font: bold 1rem ui-monospace, monospace; margin: 0 }
p { margin: 0.25rem 0 }`

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** One section per code, with the code in lower case as its name, so that `type` of a problem leads to it. */
function errorsPage(markdown: string): string {
  const sections = documentedErrors(markdown).map(
    ({ code, http, meaning, advice }) =>
      `<section id="${code.toLowerCase()}"><h2>${code} <small>${http}</small></h2><p>${inline(meaning)}</p><p>${inline(advice)}</p></section>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Wharf: error codes</title>
<style>${STYLE}</style>
<main>
<h1>Error codes</h1>
<p>What each code in a problem document or in the <code>error</code> of a task means, and what to do.</p>
${sections.join('\n')}
</main>
</html>
`
}

/** Code spans stay, links to other pages become their text. */
function inline(markdown: string): string {
  return markdown
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/`([^`]+)`/g, '<code>$1</code>')
}

export function registerErrorsPage(app: FastifyInstance): void {
  let page: string | undefined
  app.get('/docs/errors', { config: { access: 'open' }, schema: { hide: true } }, async (_request, reply) => {
    page ??= errorsPage(readFileSync(DOCUMENT, 'utf8'))
    return reply
      .type('text/html; charset=utf-8')
      .headers({ 'Cache-Control': 'public, max-age=300', 'Content-Security-Policy': POLICY })
      .send(page)
  })
}
