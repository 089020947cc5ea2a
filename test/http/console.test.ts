import { readdirSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import { CookieBrowser } from '../support/cookie-browser.ts'
import { problemOf } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'

const ASSETS = new URL('../../dist/console/assets/', import.meta.url)
const html = { headers: { accept: 'text/html,application/xhtml+xml' } }

test('the console is one page, at the root and at each of its own addresses, and never cached', async () => {
  const { ask } = await startHttp()
  for (const path of ['/', '/exports', '/exports/some-id?x=1']) {
    const answer = await ask('GET', path, html)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(await answer.text()).toContain('<div id="root">')
  }
})

test('every address of the console answers a signed-in browser with the page while the ledger is away', async () => {
  const { address, sessions } = await startHttp()
  const browser = new CookieBrowser(address)
  await browser.signIn(ADMIN_TOKEN)
  vi.spyOn(sessions, 'find').mockRejectedValue(new AppError(ERRORS.LEDGER_UNAVAILABLE, 'away'))
  expect((await browser.ask('GET', '/api/session')).status).toBe(503)
  for (const path of ['/', '/overview', '/exports', '/exports/some-id?x=1']) {
    const answer = await browser.ask('GET', path, html)
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/html; charset=utf-8',
    ])
  }
})

test('whoever asks for no page, or for the API, is told that there is nothing', async () => {
  const { ask } = await startHttp()
  const asked = [
    ask('GET', '/exports'),
    ask('GET', '/api/nothing', html),
    ask('POST', '/exports', html),
    ask('GET', '/assets/nothing-12345678.js', html),
    ask('GET', '/assets/..%2findex.html'),
    ask('GET', '/assets/%2e%2e%2f.built-from'),
  ]
  for (const answer of asked)
    expect(await problemOf(answer)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
})

test('the page runs scripts from files alone, and styles with the nonce of this very answer', async () => {
  const { ask } = await startHttp()
  const nonces = new Set<string>()
  for (let count = 0; count < 2; count++) {
    const answer = await ask('GET', '/', html)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(policy).not.toContain('unsafe')
    const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(policy)?.[1] as string
    const page = await answer.text()
    expect(page).toContain(`nonce="${nonce}"`)
    expect(page).not.toContain('__WHARF_NONCE__')
    expect(page).not.toMatch(/<script(?![^>]* src="\/assets\/)/)
    expect(page).not.toMatch(/<style|style="|(?:src|href)="(?:https?:)?\/\//)
    nonces.add(nonce)
  }
  expect(nonces.size).toBe(2)
})

test('files of the console are kept for ever, and come packed to whoever takes that', async () => {
  const { ask } = await startHttp()
  const file = readdirSync(ASSETS).find((name) => /^index-.*\.js$/.test(name)) as string
  const packed = await ask('GET', `/assets/${file}`, { headers: { 'accept-encoding': 'br, gzip' } })
  const plain = await ask('GET', `/assets/${file}`, { headers: { 'accept-encoding': 'gzip;q=0' } })
  for (const answer of [packed, plain]) {
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('vary')).toContain('Accept-Encoding')
  }
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(await packed.text()).toBe(await plain.text())
})

test('a key can ask whose it is, and where the event log stands', async () => {
  const wharf = await startHttp()
  const project = await newProject(wharf)
  const session = async (key: string) => (await wharf.ask('GET', '/api/session', { key })).json()
  expect(await session(project.key)).toEqual({
    role: 'project',
    project_id: project.id,
    project_name: 'test',
    scopes: ['all'],
    key_id: expect.any(String),
    seq: expect.any(Number),
    // What only a signed-in browser has.
    session_id: null,
    expires_at: null,
    person: null,
    projects: [],
    looks_only: false,
  })
  expect(await session(ADMIN_TOKEN)).toMatchObject({ role: 'admin', project_id: null })
  expect(await problemOf(wharf.ask('GET', '/api/session'))).toMatchObject({ code: 'UNAUTHENTICATED' })
})
