import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { until } from '../../support/until.ts'

const SECRET = 's3cr3t/+=&"value"'
const TOKEN = 'eyJ0b2tlbg.of-the-server'
const BASIC = Buffer.from(`reader:${SECRET}`).toString('base64')

/** Every place of a request that takes a secret, with what a source gets to see of it. */
const PLACES: Record<string, (url: string, tokens: string) => object> = {
  'source_headers: a key': (url) => ({ source_url: url, source_headers: { 'x-api-key': SECRET } }),
  'source_headers: Bearer': (url) => ({
    source_url: url,
    source_headers: { Authorization: `Bearer ${SECRET}` },
  }),
  'source_headers: Basic': (url) => ({
    source_url: url,
    source_headers: { Authorization: `Basic ${BASIC}` },
  }),
  'the address': (url) => ({ source_url: withUser(url) }),
  'the address of a sheet': (url) => ({ sheets: [{ name: 'one', source_url: withUser(url) }] }),
  'source.url': (url) => ({ source: { kind: 'http', url: withUser(url), preset: 'drf' } }),
  'source.headers': (url) => ({
    source: { kind: 'http', url, headers: { cookie: `sid=${SECRET}` }, rows: 'data' },
  }),
  'source.body': (url) => ({
    source: { kind: 'http', url, preset: 'drf', body: { login: { password: SECRET } } },
  }),
  'source.auth: basic': (url) => ({
    source: { kind: 'http', url, auth: { kind: 'basic', username: 'reader', password: SECRET } },
  }),
  'source.auth: oauth2, echoed by the source': (url, tokens) => ({
    source: { kind: 'http', url, auth: oauth(`${tokens}?ok`) },
  }),
  'source.auth: oauth2, echoed by the token server': (url, tokens) => ({
    source: { kind: 'http', url, auth: oauth(tokens) },
  }),
  'source.auth: the address of the token server': (url, tokens) => ({
    source: { kind: 'http', url, auth: oauth(withUser(tokens)) },
  }),
}

const oauth = (token_url: string) => ({
  kind: 'oauth2',
  token_url,
  client_id: 'reader',
  client_secret: SECRET,
})

function withUser(url: string): string {
  return url.replace('://', `://reader:${encodeURIComponent(SECRET)}@`)
}

/** Ways in which an answer repeats what it was asked with. */
const ECHOES: Record<string, (response: ServerResponse, said: string) => void> = {
  'a message': (response, said) =>
    json(response, { status: 1, msg: said, error: said, error_description: said }),
  'a message that is cut': (response, said) => {
    const msg = `${'x'.repeat(180)} ${said}`
    json(response, { status: 1, msg, error: 'invalid_client', error_description: msg })
  },
  'no JSON': (response, said) => void response.end(said),
  'a row that is none': (response, said) =>
    json(response, { total: 1, data: [said], results: [said], [said]: 1 }),
  'a status': (response, said) => void response.writeHead(418, { 'x-said': quoted(said) }).end(said),
  'a redirect': (response, said) =>
    void response.writeHead(302, { location: `ftp://x/${quoted(said)}` }).end(),
  'a charset': (response, said) =>
    void response
      .writeHead(200, { 'content-type': `application/json; charset=${said.split(/\s/)[1]}` })
      .end('{}'),
  'a next address': (response, said) =>
    json(response, { count: 9, total: 9, data: [{ id: 1 }], results: [{ id: 1 }], next: `ftp://x/${said}` }),
}

const quoted = (text: string) => text.replace(/[^\x20-\x7e]/g, '')

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Headers and body, as they came and decoded. */
function saidBy({ headers }: IncomingMessage, body: string): string {
  const authorization = String(headers.authorization ?? '')
  const decoded = Buffer.from(authorization.replace('Basic ', ''), 'base64')
    .toString()
    .replace(/[^\x20-\x7e]/g, '')
  const sent = Object.entries(headers).map(([name, value]) => `${name}=${value}`)
  return [authorization, decoded, ...sent, body, decodeURIComponent(body.replaceAll('+', ' '))].join(' ')
}

test('no secret that a source or a token server repeats in its answer is shown or stored', async () => {
  const { business, client, config, wharf } = await startExports('embedded', {
    clock: new FastClock(200),
    env: { WHARF_LEASE_SECONDS: '3600' },
  })
  const answers = (
    path: string,
    echo: (typeof ECHOES)[string],
    before?: (url: URL, r: ServerResponse) => boolean,
  ) =>
    business.at(path, async (request, response, url) => {
      if (before?.(url, response)) return
      let body = ''
      for await (const chunk of request) body += String(chunk)
      echo(response, saidBy(request, body))
    })
  const receiver = business.receiver(200)
  const seen: [string, string][] = []
  const tasks: [string, string][] = []
  const tryOut = async (how: string, where: string) => {
    const path = encodeURIComponent(`${where}, in ${how}`)
    const source = answers(`/source/${path}`, ECHOES[how]!)
    const tokens = answers(`/tokens/${path}`, ECHOES[how]!, (url, response) => {
      if (!url.searchParams.has('ok')) return false
      json(response, { access_token: TOKEN, token_type: 'bearer' })
      return true
    })
    const body = { type: 'excel', ...PLACES[where]!(source, tokens) }
    const preview = await client.ask('POST', '/api/exports/preview', { key: client.project.key, body })
    seen.push([`${where}, in ${how}`, await preview.text()])
    if (how !== 'a message') return
    const file = await client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body })
    seen.push([`${where}, in ${how}, mode=sync`, await file.text()])
    tasks.push([where, (await client.start({ ...body, callback: receiver.url })).task_id])
  }
  for (const how of Object.keys(ECHOES))
    await Promise.all(
      Object.keys(PLACES)
        // In a message from all places; in other ways from every third.
        .filter((_, n) => how === 'a message' || n % 3 === 1)
        .map((where) => tryOut(how, where)),
    )
  for (const [where, id] of tasks)
    seen.push([where, JSON.stringify([await client.ended(id), await client.items(id, 'events')])])
  await until('all ends are told', () => receiver.calls.length >= tasks.length)
  for (const { text } of receiver.calls) seen.push(['a callback', text])
  await wharf.stop()
  for (const name of readdirSync(config.WHARF_DATA_DIR, { recursive: true, encoding: 'utf8' }))
    if (/\.db/.test(name))
      seen.push([name, readFileSync(join(config.WHARF_DATA_DIR, name)).toString('latin1')])
  expect(seen.some(([name]) => /\.db/.test(name))).toBe(true)
  const forms = [SECRET, SECRET.slice(0, 9), encodeURIComponent(SECRET), BASIC, TOKEN, 'of-the-server']
  const leaks = seen.flatMap(([where, text]) =>
    forms.filter((form) => text.includes(form)).map((form) => `${where}: ${form}: ${around(text, form)}`),
  )
  expect(leaks).toEqual([])
  expect(seen.filter(([, text]) => text.includes('***')).length).toBeGreaterThan(tasks.length)
})

function around(text: string, form: string): string {
  const at = text.indexOf(form)
  return text.slice(Math.max(0, at - 80), at + form.length + 20)
}
