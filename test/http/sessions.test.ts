import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { CookieBrowser } from '../support/cookie-browser.ts'
import { openEvents, openSocket } from '../support/event-readers.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

interface Seen {
  role: string
  project_id: string | null
  session_id: string | null
}

const cookieOf = ({ cookies }: CookieBrowser) => `wharf_session=${cookies.get('wharf_session')}`

describe.each(availableBackends())('sessions on %s', (name) => {
  test('a key is shown once; its session works on every instance, survives a restart, and ends with it', async () => {
    const first = await startHttp(name)
    const { id, key } = await newProject(first)
    const browser = new CookieBrowser(first.address)
    const signedIn = await browser.signIn(key)
    expect(signedIn.status).toBe(200)
    const [cookie = ''] = signedIn.headers.getSetCookie()
    expect(cookie).toMatch(
      /^wharf_session=wharf_session_[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    expect(cookie).not.toContain(key)
    expect((await signedIn.json()) as Seen).toMatchObject({ role: 'project', project_id: id })
    await first.stop()
    const again = await startHttp(name, { backend: first.backend })
    const headers = { cookie: cookieOf(browser) }
    const seen = await again.ask('GET', '/api/session', { headers })
    expect((await seen.json()) as Seen).toMatchObject({ project_id: id, session_id: expect.any(String) })
    const made = await again.ask('GET', `/api/projects/${id}/keys`, { key: ADMIN_TOKEN })
    const [main] = ((await made.json()) as { items: { key_id: string }[] }).items
    await again.ask('DELETE', `/api/projects/${id}/keys/${main?.key_id}`, { key: ADMIN_TOKEN })
    expect((await again.ask('GET', '/api/session', { headers })).status).toBe(401)
  })

  test('[session-end] a session that an admin ends, or that is left, is refused at once, with its streams and tickets', async () => {
    const wharf = await startHttp(name)
    const { id, key } = await newProject(wharf)
    const browsers = [new CookieBrowser(wharf.address), new CookieBrowser(wharf.address)]
    const ends = [
      async (_: CookieBrowser, sessionId: string) =>
        (await wharf.ask('DELETE', `/api/sessions/${sessionId}`, { key: ADMIN_TOKEN })).status,
      async (browser: CookieBrowser) => (await browser.ask('DELETE', '/api/session')).status,
    ]
    for (const [index, browser] of browsers.entries()) {
      await browser.signIn(key)
      const cookie = cookieOf(browser)
      const { session_id } = await browser.json<Seen>('GET', '/api/session')
      const { ticket } = await browser.json<{ ticket: string }>('POST', `/api/projects/${id}/ticket`)
      const origin = new URL(wharf.address).origin
      const stream = await openEvents(`${wharf.address}/api/events`, { cookie })
      const socket = await openSocket(`${wharf.address}/ws`, { cookie, origin })
      let closed = 0
      socket.socket.on('close', (code) => {
        closed = code
      })
      expect(await ends[index]?.(browser, String(session_id))).toBe(204)
      expect((await wharf.ask('GET', '/api/session', { headers: { cookie } })).status).toBe(401)
      expect((await wharf.ask('GET', `/api/events?token=${ticket}`)).status).toBe(401)
      await until('the WebSocket is closed', () => closed === 1008)
      await until('the stream has ended', () => stream.names.includes('end'))
    }
    const actions = await wharf.ask('GET', '/api/audit', { key: ADMIN_TOKEN })
    const { items } = (await actions.json()) as { items: { action: string; actor: string }[] }
    expect(items.map(({ action }) => action).filter((action) => action.startsWith('session.'))).toEqual([
      'session.started',
      'session.revoked',
      'session.started',
      'session.ended',
    ])
    expect(items.find(({ action }) => action === 'session.started')?.actor).toMatch(/^key \S+$/)
    expect(JSON.stringify(items)).not.toContain(key)
  })

  test('[session-end] a session is over at its end, and swept', async () => {
    const wharf = await startHttp(name)
    const browser = new CookieBrowser(wharf.address)
    await browser.signIn(ADMIN_TOKEN)
    expect(await browser.json<Seen>('GET', '/api/session')).toMatchObject({ role: 'admin' })
    const { db } = wharf.ledger
    await db
      .updateTable('sessions')
      .set({ expires_at: (await wharf.ledger.now()) - 1 })
      .execute()
    expect((await browser.ask('GET', '/api/session')).status).toBe(401)
    // What is open to everybody stays so with an old cookie.
    expect((await browser.ask('GET', '/api/sign-in')).status).toBe(200)
    await wharf.sessions.runOnce()
    expect(await db.selectFrom('sessions').select('id').execute()).toEqual([])
  })

  test('one owner has a hundred sessions at most; the oldest end first', async () => {
    const wharf = await startHttp(name)
    const { key } = await newProject(wharf)
    const first = new CookieBrowser(wharf.address)
    await first.signIn(key)
    for (let count = 0; count < 100; count++) await new CookieBrowser(wharf.address).signIn(key)
    expect((await first.ask('GET', '/api/session')).status).toBe(401)
    expect(await wharf.sessions.list()).toHaveLength(100)
  })
})

test('[csrf] no page of another origin does anything with the cookie, nor signs anybody in', async () => {
  const wharf = await startHttp()
  const { id, key } = await newProject(wharf)
  const browser = new CookieBrowser(wharf.address)
  await browser.signIn(ADMIN_TOKEN)
  const cookie = cookieOf(browser)
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${wharf.address}.evil.example` },
    { origin: wharf.address, 'sec-fetch-site': 'cross-site' },
    { origin: wharf.address, 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    {},
  ]
  for (const headers of foreign) {
    const asked = await wharf.ask('POST', '/api/projects', {
      body: { name: 'x' },
      headers: { cookie, ...headers },
    })
    expect([headers, asked.status, ((await asked.json()) as { code: string }).code]).toEqual([
      headers,
      403,
      'FOREIGN_ORIGIN',
    ])
    const signIn = await wharf.ask('POST', '/api/session', { body: { key }, headers })
    expect([headers, signIn.status, signIn.headers.getSetCookie()]).toEqual([headers, 403, []])
    if (headers.origin !== undefined) {
      const socket = openSocket(`${wharf.address}/ws`, { cookie, ...headers })
      await expect(socket, JSON.stringify(headers)).rejects.toThrow('401')
    }
  }
  for (const headers of [{ origin: wharf.address }, { 'sec-fetch-site': 'same-origin' }]) {
    const body = { quotas: {} }
    const asked = await wharf.ask('PUT', `/api/projects/${id}`, { body, headers: { cookie, ...headers } })
    expect(asked.status).toBe(200)
  }
  // A key in a header is not sent by itself, so no page has to be asked about.
  const byKey = await wharf.ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'y' } })
  expect(byKey.status).toBe(201)
})

test('behind TLS the cookie is for this very host, and one from a neighbour is not taken', async () => {
  const env = { WHARF_PUBLIC_URL: 'https://wharf.example.com', WHARF_TRUST_PROXY: 'loopback' }
  const wharf = await startHttp('embedded', { env })
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'wharf.example.com' }
  const signedIn = await wharf.ask('POST', '/api/session', {
    body: { key: ADMIN_TOKEN },
    headers: { ...forwarded, origin: 'https://wharf.example.com' },
  })
  const [cookie = ''] = signedIn.headers.getSetCookie()
  expect(cookie).toMatch(/^__Host-wharf_session=.*; HttpOnly; SameSite=Strict; Secure$/)
  const value = cookie.split(';')[0] ?? ''
  const statusWith = async (sent: string) =>
    (await wharf.ask('GET', '/api/session', { headers: { ...forwarded, cookie: sent } })).status
  expect(await statusWith(value)).toBe(200)
  expect(await statusWith(value.replace('__Host-', ''))).toBe(401)
})

test('another admin token ends the sessions of the one before', async () => {
  const first = await startHttp()
  const browser = new CookieBrowser(first.address)
  await browser.signIn(ADMIN_TOKEN)
  await first.stop()
  const env = { WHARF_ADMIN_TOKEN: 'another-admin-token' }
  const again = await startHttp('embedded', { backend: first.backend, env })
  const seen = await again.ask('GET', '/api/session', { headers: { cookie: cookieOf(browser) } })
  expect(seen.status).toBe(401)
})

test('[scope] a key with the scope admin is an admin whose deeds have its name; one for runs runs accounts', async () => {
  const wharf = await startHttp()
  const { id } = await newProject(wharf)
  const keyFor = async (...scopes: string[]) => {
    const body = { name: 'ops', scopes }
    const made = await wharf.ask('POST', `/api/projects/${id}/keys`, { key: ADMIN_TOKEN, body })
    return (await made.json()) as { key_id: string; api_key: string }
  }
  const admin = await keyFor('admin')
  expect((await wharf.ask('POST', '/api/projects', { key: admin.api_key, body: { name: 'z' } })).status).toBe(
    201,
  )
  const runs = await keyFor('runs:*')
  const account = { key: runs.api_key, body: { url: 'https://example.com/feed' } }
  expect((await wharf.ask('PUT', '/api/accounts/lin', account)).status).toBe(200)
  const audit = await wharf.ask('GET', '/api/audit', { key: admin.api_key })
  const { items } = (await audit.json()) as { items: { action: string; actor: string }[] }
  const by = (action: string) => items.findLast((entry) => entry.action === action)?.actor
  expect(by('project.created')).toBe(`key ${admin.key_id}`)
  expect(by('account.changed')).toBe(`key ${runs.key_id}`)
  await wharf.ask('DELETE', `/api/projects/${id}/keys/${admin.key_id}`, { key: ADMIN_TOKEN })
  expect((await wharf.ask('GET', '/api/audit', { key: admin.api_key })).status).toBe(401)
})

test('a delivery is recorded once for each who asked, results that are fetched and tasks that are cancelled too', async () => {
  const { wharf, client, business } = await startExports()
  const { task_id } = await client.run({ source_url: business.source({ total: 1 }).url })
  const { id, key } = client.project
  const body = { name: 'second', scopes: ['transfers:write'] }
  const made = await wharf.ask('POST', `/api/projects/${id}/keys`, { key: ADMIN_TOKEN, body })
  const second = (await made.json()) as { api_key: string; key_id: string }
  const jobs = new Set<string>()
  for (const shown of [key, key, second.api_key])
    for (const target_agent_id of ['a', 'b']) {
      const request = {
        biz_id: 5,
        app_id: 1,
        export_task_id: task_id,
        target_agent_id,
        target_file_dir: '/o',
      }
      const sent = await wharf.ask('POST', '/api/transfers', { key: shown, body: request })
      expect(sent.status).toBe(202)
      jobs.add(((await sent.json()) as { job_id: string }).job_id)
    }
  const answer = await wharf.ask('GET', '/api/audit?action=transfer.requested', { key: ADMIN_TOKEN })
  const { items } = (await answer.json()) as { items: { actor: string; target: string; detail: object }[] }
  // One per caller and delivery; the window may have changed in between.
  expect(new Set(items.map(({ target }) => target))).toEqual(jobs)
  expect(new Set(items.map(({ actor, target }) => `${actor} ${target}`)).size).toBe(items.length)
  expect(items.some(({ actor }) => actor === `key ${second.key_id}`)).toBe(true)
  expect(items[0]).toMatchObject({ detail: { export_task_id: task_id } })
})
