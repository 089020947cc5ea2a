import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { CookieBrowser } from '../support/cookie-browser.ts'
import { ADMIN_TOKEN, type HttpOptions, newProject, startHttp } from '../support/http.ts'
import { OidcIssuer } from '../support/oidc-issuer.ts'
import { until } from '../support/until.ts'

interface Seen {
  role: string
  project_id: string | null
  scopes: string[] | null
  looks_only: boolean
  person: { subject: string; name: string } | null
  projects: { project_id: string; role: string }[]
}

async function setup(
  name: Parameters<typeof startHttp>[0] = 'embedded',
  { env = {}, ...options }: HttpOptions & { idTokenRoles?: boolean } = {},
) {
  const issuer = await OidcIssuer.start(options)
  onTestFinished(() => issuer.stop())
  const wharf = await startHttp(name, { ...options, env: { ...issuer.env, ...env } })
  issuer.allow(wharf.address)
  const signIn = async (roles: unknown, more: object = {}) => {
    issuer.account = { sub: 'lin', name: 'Lin Wei', wharf_roles: roles, ...more }
    const browser = new CookieBrowser(wharf.address)
    const { url, answer } = await browser.follow('/auth/login?to=/exports')
    return { browser, url, answer }
  }
  const audit = async (query = '') => {
    const answer = await wharf.ask('GET', `/api/audit?limit=1000${query}`, { key: ADMIN_TOKEN })
    return ((await answer.json()) as { items: { actor: string; action: string; detail: object }[] }).items
  }
  return { issuer, wharf, signIn, audit }
}

describe.each(availableBackends())('signing in with an issuer on %s', (name) => {
  test('a person has the role of a claim, and their name is in audit, downloads and exports', async () => {
    const { wharf, signIn, audit } = await setup(name)
    const business = await BusinessSystem.start()
    const { id } = await newProject(wharf)
    const { browser, url } = await signIn([`operator:${id}`])
    expect(url).toBe(`${wharf.address}/exports`)
    expect(await browser.json<Seen>('GET', '/api/session')).toMatchObject({
      role: 'project',
      project_id: id,
      scopes: ['all'],
      person: { subject: 'lin', name: 'Lin Wei' },
    })
    const body = { source_url: business.source({ total: 2 }).url }
    const { task_id } = await browser.json<{ task_id: string }>('POST', '/api/exports', { body })
    const task = await until('the export is done', async () => {
      const seen = await browser.json<Record<string, string>>('GET', `/api/exports/${task_id}`)
      return seen.status === 'succeeded' && seen
    })
    expect(task.operator_id).toBe('Lin Wei')
    // With the cookie itself, and with the link, which carries a ticket of the session.
    await (await browser.ask('GET', `/api/exports/${task_id}/file`)).arrayBuffer()
    await (await wharf.ask('GET', String(task.download_url))).arrayBuffer()
    const downloads = await until('both downloads are recorded', async () => {
      const path = `/api/exports/${task_id}/downloads`
      const { items } = await browser.json<{ items: { who: string }[] }>('GET', path)
      return items.length === 2 && items
    })
    expect(downloads.map(({ who }) => who)).toEqual(['person Lin Wei', 'person Lin Wei'])
    await browser.ask('GET', '/auth/logout')
    expect((await browser.ask('GET', '/api/session')).status).toBe(401)
    expect((await wharf.ask('GET', String(task.download_url))).status).toBe(410)
    const recorded = await until('both are in the audit log', async () => {
      const entries = await audit('&actor=person%20Lin%20Wei')
      return entries.length >= 4 && entries
    })
    expect(recorded.map(({ action }) => action)).toEqual([
      'session.started',
      'export.downloaded',
      'export.downloaded',
      'session.ended',
    ])
    expect(recorded[0]).toMatchObject({ detail: { subject: 'lin' } })
  })
})

test('roles: an admin does everything, a viewer looks at everything, projects are chosen by a header', async () => {
  const { wharf, signIn } = await setup()
  const [one, two] = [await newProject(wharf), await newProject(wharf)]
  const admin = (await signIn('admin')).browser
  const body = { name: 'made by a person' }
  const made = await admin.json<{ project_id: string }>('POST', '/api/projects', { body })
  const viewer = (await signIn({ viewer: {} })).browser
  expect(await viewer.json<Seen>('GET', '/api/session')).toMatchObject({ role: 'admin', looks_only: true })
  expect((await viewer.ask('GET', `/api/projects/${one.id}/exports`)).status).toBe(200)
  for (const [method, path] of [
    ['POST', '/api/projects'],
    ['DELETE', `/api/projects/${one.id}`],
    ['PUT', '/api/settings/max_concurrent'],
    ['DELETE', '/api/sessions/x'],
  ] as const)
    expect([path, (await viewer.ask(method, path, { body: { name: 'x', value: 1 } })).status]).toEqual([
      path,
      403,
    ])
  // By id and by name; a name that two projects have, or none, gives nothing.
  const roles = [
    `wharf:operator:${one.id}`,
    'viewer:made by a person',
    'operator:test',
    'operator:none',
    'viewer',
  ]
  const several = (await signIn(roles)).browser
  const seen = await several.json<Seen>('GET', '/api/session')
  expect(seen.projects.map(({ project_id, role }) => [project_id, role])).toEqual([
    [one.id, 'operator'],
    [made.project_id, 'viewer'],
  ])
  const choose = (id: string) => several.ask('GET', '/api/session', { headers: { 'wharf-project': id } })
  expect((await (await choose(made.project_id)).json()) as Seen).toMatchObject({ scopes: ['read'] })
  expect((await choose(two.id)).status).toBe(404)
  expect((await several.ask('GET', `/api/projects/${two.id}/exports`)).status).toBe(404)
  // A role ends with its project.
  await wharf.ask('DELETE', `/api/projects/${one.id}`, { key: ADMIN_TOKEN })
  expect(await several.json<Seen>('GET', '/api/session')).toMatchObject({ project_id: made.project_id })
})

test('roles that only the userinfo of the issuer has are found, too', async () => {
  const { signIn } = await setup('embedded', { idTokenRoles: false })
  const { browser } = await signIn(['admin'])
  expect(await browser.json<Seen>('GET', '/api/session')).toMatchObject({ role: 'admin' })
})

test('[no-role] whoever has no role gets a page that says so, no session, and is recorded', async () => {
  const { signIn, audit } = await setup()
  for (const roles of [undefined, [], ['operator:nothing'], ['Administrator', '<b>admin</b>'], 7]) {
    const { browser, answer } = await signIn(roles, { name: 'Eve <script>' })
    const page = await answer.text()
    expect([roles, answer.status]).toEqual([roles, 403])
    expect(page).toContain('You have no role in Wharf')
    expect(page).toContain('SIGN_IN_REFUSED')
    expect(page).not.toMatch(/<script|<b>/)
    expect(browser.cookies.has('wharf_session')).toBe(false)
  }
  expect((await audit('&action=session.refused')).map(({ actor }) => actor)).toHaveLength(5)
})

test('[no-role] a role that names several projects at once gives none of them, and the page has the ids to choose from', async () => {
  const { wharf, signIn } = await setup()
  const [one, two] = [await newProject(wharf), await newProject(wharf)]
  const { browser, answer } = await signIn(['operator:test'])
  expect([answer.status, await answer.text()]).toEqual([
    403,
    expect.stringMatching(
      new RegExp(
        `operator:test gives nothing, because 2 projects are named test; name one by its id: ${one.id}, ${two.id}`,
      ),
    ),
  ])
  expect(browser.cookies.has('wharf_session')).toBe(false)
  const chosen = (await signIn([`operator:${two.id}`])).browser
  expect(await chosen.json<Seen>('GET', '/api/session')).toMatchObject({ project_id: two.id })
})

test('an issuer that is away stops no start, and the page says so until it is back', async () => {
  const issuer = await OidcIssuer.start()
  onTestFinished(() => issuer.stop())
  issuer.down()
  const wharf = await startHttp('embedded', { env: issuer.env })
  issuer.allow(wharf.address)
  const browser = new CookieBrowser(wharf.address)
  const headers = { accept: 'text/html', 'accept-language': 'zh-CN' }
  const away = await browser.ask('GET', '/auth/login', { headers })
  expect([away.status, await away.text()]).toEqual([503, expect.stringContaining('身份服务暂时无法访问')])
  const problem = await browser.json<{ code: string }>('GET', '/auth/login')
  expect(problem.code).toBe('ISSUER_UNAVAILABLE')
  issuer.up()
  expect((await browser.follow('/auth/login')).url).toBe(`${wharf.address}/`)
  expect((await browser.ask('GET', '/api/session')).status).toBe(200)
})

test('without an issuer there is no sign-in but by key', async () => {
  const wharf = await startHttp()
  const browser = new CookieBrowser(wharf.address)
  expect(await browser.json('GET', '/api/sign-in')).toEqual({ methods: ['key'] })
  expect((await browser.json<{ code: string }>('GET', '/auth/login')).code).toBe('SIGN_IN_OFF')
})

test('an issuer that goes away in the middle of a sign-in is said on a page in words, with a way back', async () => {
  const { issuer, wharf } = await setup()
  issuer.account = { sub: 'lin', wharf_roles: 'admin' }
  const pages = { en: 'The identity provider does not answer', 'zh-CN': '身份服务暂时无法访问' }
  for (const [language, title] of Object.entries(pages)) {
    for (const status of [undefined, 502, 200, 404]) {
      const { browser, url } = await onTheWayBack(wharf)
      if (status === undefined) issuer.down()
      else issuer.fail(status)
      const headers = { accept: 'text/html', 'accept-language': language }
      const answer = await browser.ask('GET', url, { headers })
      const page = await answer.text()
      expect([status, answer.status, answer.headers.get('content-type'), page]).toEqual([
        status,
        503,
        'text/html; charset=utf-8',
        expect.stringContaining(title),
      ])
      expect(page).toContain('href="/auth/login"')
      expect(page).toContain('ISSUER_UNAVAILABLE')
      if (language === 'zh-CN') expect(page).not.toMatch(/does not answer|nobody can/)
      expect(browser.cookies.has('wharf_session')).toBe(false)
      issuer.up()
    }
  }
  expect((await new CookieBrowser(wharf.address).follow('/auth/login')).url).toBe(`${wharf.address}/`)
})

/** The address that the issuer sends a browser back to, which has not gone there yet. */
async function onTheWayBack(wharf: { address: string }) {
  const browser = new CookieBrowser(wharf.address)
  let url = `${wharf.address}/auth/login`
  while (!url.includes('/auth/callback')) {
    const answer = await browser.ask('GET', url)
    url = new URL(String(answer.headers.get('location')), url).href
  }
  return { browser, url }
}

const failed = async (browser: CookieBrowser, url: string) => {
  const { code } = await browser.json<{ code: string }>('GET', url)
  expect(code).toBe('SIGN_IN_FAILED')
  expect(browser.cookies.has('wharf_session')).toBe(false)
}

test('[oidc-forged] a callback that was not begun here, is changed, or comes twice signs nobody in', async () => {
  const { issuer, wharf } = await setup()
  issuer.account = { sub: 'lin', wharf_roles: 'admin' }
  const victim = new CookieBrowser(wharf.address)
  const attacker = await onTheWayBack(wharf)
  // Led to the attacker's own answer, the victim would work in the attacker's name.
  await failed(victim, attacker.url)
  const changed = (name: string, value: string) => {
    const url = new URL(attacker.url)
    url.searchParams.set(name, value)
    return url.href
  }
  await failed(attacker.browser, changed('state', 'another'))
  const again = await onTheWayBack(wharf)
  const cookies = new Map(again.browser.cookies)
  await again.browser.ask('GET', again.url)
  expect((await again.browser.ask('GET', '/api/session')).status).toBe(200)
  // The same code once more, with the cookies of before.
  const replay = new CookieBrowser(wharf.address)
  for (const [name, value] of cookies) replay.cookies.set(name, value)
  await failed(replay, again.url)
  const wrong = await onTheWayBack(wharf)
  const url = new URL(wrong.url)
  url.searchParams.set('iss', 'https://issuer.example')
  await failed(wrong.browser, url.href)
  // A sealed cookie of another sign-in under the name of this one.
  const mixed = await onTheWayBack(wharf)
  const other = await onTheWayBack(wharf)
  const [otherCookie] = [...other.browser.cookies].filter(([name]) => name.startsWith('wharf_login_'))
  for (const name of mixed.browser.cookies.keys())
    if (name.startsWith('wharf_login_')) mixed.browser.cookies.set(name, otherCookie?.[1] ?? '')
  await failed(mixed.browser, mixed.url)
  const refused = new URL((await onTheWayBack(wharf)).url)
  refused.searchParams.set('error', 'access_denied')
  await failed(victim, refused.href)
})

test('[oidc-forged] an issuer that names another issuer is not believed', async () => {
  const real = await OidcIssuer.start()
  onTestFinished(() => real.stop())
  const fake = createServer(async (request, response) => {
    const answer = await fetch(`${real.url}${request.url}`)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    fake.closeAllConnections()
    fake.close()
  })
  const url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`
  const wharf = await startHttp('embedded', { env: { ...real.env, OIDC_ISSUER: url } })
  const browser = new CookieBrowser(wharf.address)
  expect((await browser.json<{ code: string }>('GET', '/auth/login')).code).toBe('ISSUER_UNAVAILABLE')
})

test('[open-redirect] signing in leads to no other place', async () => {
  const { issuer, wharf } = await setup()
  issuer.account = { sub: 'lin', wharf_roles: 'admin' }
  const wanted = [
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    '/%09/evil.example',
    '\\/evil.example',
    'javascript:alert(1)',
    '/auth/logout',
    '/\t/evil.example',
    '/a/..//evil.example',
  ]
  for (const to of wanted) {
    const browser = new CookieBrowser(wharf.address)
    const { url } = await browser.follow(`/auth/login?to=${encodeURIComponent(to)}`)
    expect([to, new URL(url).host]).toEqual([to, new URL(wharf.address).host])
    expect((await browser.ask('GET', '/api/session')).status).toBe(200)
  }
  const browser = new CookieBrowser(wharf.address)
  const { url } = await browser.follow(`/auth/login?to=${encodeURIComponent('/exports/new?sample#x')}`)
  expect(url).toBe(`${wharf.address}/exports/new?sample#x`)
})

test('a session of an issuer that is no longer set is over; behind a proxy people come back to the public address', async () => {
  const { wharf, signIn } = await setup()
  const { browser } = await signIn('admin')
  const cookie = `wharf_session=${browser.cookies.get('wharf_session')}`
  await wharf.stop()
  const again = await startHttp('embedded', { backend: wharf.backend })
  expect((await again.ask('GET', '/api/session', { headers: { cookie } })).status).toBe(401)
  const issuer = await OidcIssuer.start()
  onTestFinished(() => issuer.stop())
  const env = { ...issuer.env, WHARF_PUBLIC_URL: 'https://wharf.example.com/' }
  const proxied = await startHttp('embedded', { env })
  const answer = await new CookieBrowser(proxied.address).ask('GET', '/auth/login')
  const sent = new URL(String(answer.headers.get('location')))
  expect(sent.searchParams.get('redirect_uri')).toBe('https://wharf.example.com/auth/callback')
  expect(sent.searchParams.get('code_challenge_method')).toBe('S256')
  expect(sent.searchParams.get('nonce')).toBeTruthy()
})
