import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openProjectAdmin, type ProjectAdmin } from '../../src/app/admin.ts'
import { addKeyCommands, addProjectCommands } from '../../src/cli/project.ts'
import { columnsOf, table } from '../../src/cli/terminal/table.ts'
import { loadConfig } from '../../src/config.ts'
import { loopbackOf } from '../../src/kernel/index.ts'
import { availableBackends } from '../support/backends.ts'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'
import { runWharf, temporaryFolder } from '../support/wharf-process.ts'

function closing(admin: ProjectAdmin): ProjectAdmin {
  let closed: Promise<void> | undefined
  const close = () => (closed ??= admin.close())
  onTestFinished(close)
  return { ...admin, close }
}

/** The ways to reach an installation; `works` tells whether it takes a key. */
const ways = {
  async 'a running server'() {
    const { address, projects } = await startHttp()
    const config = loadConfig({ WHARF_ADMIN_TOKEN: ADMIN_TOKEN, WHARF_DATA_DIR: temporaryFolder() })
    return {
      admin: closing(await openProjectAdmin(config, address)),
      works: projects.authenticate.bind(projects),
    }
  },
  async 'the server that keeps the data dir to itself'() {
    const { backend, config, projects } = await startHttp()
    const found = loadConfig({ ...backend.env, WHARF_ADMIN_TOKEN: config.WHARF_ADMIN_TOKEN ?? '' })
    return { admin: closing(await openProjectAdmin(found)), works: projects.authenticate.bind(projects) }
  },
  async 'the ledger of a server that is stopped'() {
    const { backend, config, stop } = await startHttp()
    await stop()
    const admin = closing(await openProjectAdmin(config))
    const works = async (key: string) => {
      await admin.close()
      const again = await startHttp('embedded', { backend })
      return again.projects.authenticate(key)
    }
    return { admin, works }
  },
  ...(availableBackends().includes('postgres + redis') && {
    async 'PostgreSQL, beside a running server'() {
      const { config, projects } = await startHttp('postgres + redis')
      return { admin: closing(await openProjectAdmin(config)), works: projects.authenticate.bind(projects) }
    },
  }),
}

describe.each(Object.entries(ways))('projects and keys through %s', (_way, open) => {
  test('are made, listed, rotated and ended', async () => {
    const { admin, works } = await open()
    const shop = await admin.createProject('shop')
    expect(shop).toMatchObject({ name: 'shop', api_key: expect.stringMatching(/^wharf_/) })
    expect((await admin.projects()).map(({ project_id }) => project_id)).toEqual([shop.project_id])
    const expires_at = '2100-01-01T00:00:00.000Z'
    const key = await admin.createKey(shop.project_id, {
      name: 'ci',
      scopes: ['exports', 'read'],
      expires_at,
    })
    const { api_key: _, ...shown } = key
    expect(shown).toMatchObject({ name: 'ci', scopes: ['exports', 'read'], expires_at, last_used_at: null })
    expect(await admin.keys(shop.project_id)).toContainEqual(shown)
    await admin.revokeKey(shop.project_id, key.key_id)
    expect(await admin.keys(shop.project_id)).toHaveLength(1)
    const rotated = await admin.rotate(shop.project_id, { what: 'api_key', grace_hours: 0 })
    const secret = await admin.rotate(shop.project_id, { what: 'webhook_secret', grace_hours: 1 })
    expect(secret.webhook_secret).toMatch(/^whsec_/)
    const gone = await admin.createProject('gone')
    await admin.deleteProject(gone.project_id)
    const past = { name: 'late', scopes: ['all' as const], expires_at: '2001-01-01T00:00:00Z' }
    await expect(admin.createKey(shop.project_id, past)).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    await expect(admin.revokeKey(shop.project_id, 'none')).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' })
    await expect(admin.keys(gone.project_id)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    expect(await works(rotated.api_key ?? '')).toMatchObject({ project: { id: shop.project_id } })
  })
})

test('the last use of a key is known to the minute, and costs one write per minute', async () => {
  const { address, ask, ledger, projects } = await startHttp()
  const admin = await openProjectAdmin(loadConfig({ WHARF_ADMIN_TOKEN: ADMIN_TOKEN }), address)
  const { project_id, api_key } = await admin.createProject('shop')
  const lastUse = async () => (await admin.keys(project_id))[0]?.last_used_at ?? null
  expect(await lastUse()).toBeNull()
  const before = await ledger.now()
  expect((await ask('GET', '/api/session', { key: api_key })).status).toBe(200)
  const first = Date.parse((await lastUse()) ?? '')
  expect(first).toBeGreaterThanOrEqual(before)
  const set = (at: number) => ledger.db.updateTable('project_keys').set({ last_used_at: at }).execute()
  await set(before - 30_000)
  await Promise.all(Array.from({ length: 5 }, () => projects.authenticate(api_key)))
  expect(Date.parse((await lastUse()) ?? '')).toBe(before - 30_000)
  await set(before - 61_000)
  await Promise.all(Array.from({ length: 5 }, () => projects.authenticate(api_key)))
  expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThanOrEqual(before)
})

/** What a command prints, or the error that it ends with. */
async function command(args: string[], env: Record<string, string>): Promise<string> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const print = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const program = new Command()
  addProjectCommands(program)
  addKeyCommands(program)
  try {
    await program.parseAsync(args, { from: 'user' })
    return print.mock.calls.flat().join('\n')
  } finally {
    print.mockRestore()
    vi.unstubAllEnvs()
  }
}

test('the commands on the page work one after another, on a running server and without one', async () => {
  const page = readFileSync(new URL('../../docs/projects-and-keys.md', import.meta.url), 'utf8')
  const commands = [...page.matchAll(/^npx wharf (.*)$/gm)].map(([, line = '']) =>
    line.replace(/ +#.*$/, '').split(' '),
  )
  expect(commands.length).toBeGreaterThanOrEqual(7)
  const { backend, stop } = await startHttp()
  const env = { WHARF_DATA_DIR: backend.env.WHARF_DATA_DIR ?? '', WHARF_ADMIN_TOKEN: ADMIN_TOKEN }
  let keyId = ''
  for (const args of commands) {
    const printed = await command(
      args.map((arg) => (arg === 'KEY_ID' ? keyId : arg)),
      env,
    )
    keyId = /^key +(\S+)$/m.exec(printed)?.[1] ?? keyId
  }
  await stop()
  const made = JSON.parse(await command(['project', 'create', 'billing', '--json'], env)) as {
    project_id: string
  }
  expect(await command(['project', 'list'], env)).toContain(made.project_id)
})

test('a new key says which scopes it has, and in one line when that is everything', async () => {
  const { backend } = await startHttp()
  const env = { WHARF_DATA_DIR: backend.env.WHARF_DATA_DIR ?? '', WHARF_ADMIN_TOKEN: ADMIN_TOKEN }
  await command(['project', 'create', 'shop'], env)
  const create = async (...scopes: string[]) => {
    const warned = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const printed = await command(['key', 'create', 'shop', '--name', 'k', ...scopes], env)
    const warnings = warned.mock.calls.flat()
    warned.mockRestore()
    return { printed, warnings }
  }
  const all = {
    printed: expect.stringMatching(/^scopes +all$/m),
    warnings: [expect.stringMatching(/^wharf: .*\bscope all\b.*--scope/)],
  }
  expect(await create()).toEqual(all)
  expect(await create('--scope', 'read', '--scope', 'all')).toMatchObject({ warnings: all.warnings })
  expect(await create('--json')).toEqual({
    printed: expect.stringContaining('"all"'),
    warnings: all.warnings,
  })
  expect((await create('--scope', 'admin')).warnings).toEqual([expect.stringContaining('admin token')])
  expect(await create('--scope', 'exports:read', '--scope', 'runs:read')).toEqual({
    printed: expect.stringMatching(/^scopes +exports:read, runs:read$/m),
    warnings: [],
  })
})

test('a second project of a name is made with a warning that names the first, on a running server and without one', async () => {
  const { backend, stop } = await startHttp()
  const env = { WHARF_DATA_DIR: backend.env.WHARF_DATA_DIR ?? '', WHARF_ADMIN_TOKEN: ADMIN_TOKEN }
  const create = async (name: string) => {
    const warned = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const printed = await command(['project', 'create', name, '--json'], env)
    const warnings = warned.mock.calls.flat()
    warned.mockRestore()
    return { id: (JSON.parse(printed) as { project_id: string }).project_id, warnings }
  }
  const first = await create('shop')
  expect([first.warnings, (await create('other')).warnings]).toEqual([[], []])
  const second = await create('shop')
  expect(second.warnings).toEqual([
    expect.stringMatching(new RegExp(`^wharf: .* named shop: ${first.id}\\. .* ids only.* operator:shop `)),
  ])
  await stop()
  const [warning] = (await create('shop')).warnings
  for (const { id } of [first, second]) expect(warning).toContain(id)
})

test('columns of lists are aligned behind wide characters', () => {
  const rows = [
    ['订单系统', 'x'],
    ['ﾊﾝｶｸ', 'x'],
    ['한국어', 'x'],
    ['e\u0301🚢👩‍👩‍👧（x）', 'x'],
    ['plain', 'x'],
  ]
  const lines = table(['NAME', 'CREATED'], rows).split('\n')
  expect(lines.map((line) => columnsOf(line.replace(/(x|CREATED)$/, '')))).toEqual(lines.map(() => 12))
  expect(lines[1]).toBe('订单系统    x')
  expect(lines[4]).toBe('e\u0301🚢👩‍👩‍👧（x）  x')
})

test('a command that reaches nothing says in one line what to give it', async () => {
  const empty = { WHARF_DATA_DIR: temporaryFolder() }
  const list = ['project', 'list']
  const { exited, output } = runWharf(list, empty)
  expect(await exited).toMatchObject({ code: 1 })
  expect(output.err).toMatch(/^wharf: there is no Wharf in .*--server URL.*\n$/)
  const away = [...list, '--server', 'http://127.0.0.1:1']
  await expect(command(away, empty)).rejects.toThrow(/^this needs the admin token: .*WHARF_ADMIN_TOKEN_FILE$/)
  const token = { ...empty, WHARF_ADMIN_TOKEN: 'a-token-of-somebody' }
  await expect(command(away, token)).rejects.toThrow(/^no Wharf answers at http:\/\/127\.0\.0\.1:1 .*$/)
  const { address } = await startHttp()
  await expect(command([...list, '--server', address], token)).rejects.toThrow(/check WHARF_ADMIN_TOKEN$/)
})

test('a day that is in no calendar is no end of a key', async () => {
  for (const when of [
    '2027-02-30',
    '2027-02-30T10:00:00Z',
    '2027-13-01',
    'soon',
    '40',
    '90',
    'May 2030',
    '2030',
  ]) {
    const args = ['key', 'create', 'shop', '--name', 'k', '--expires', when]
    const { exited, output } = runWharf(args, { WHARF_DATA_DIR: temporaryFolder() })
    expect(await exited).toMatchObject({ code: 2 })
    expect(output.err).toContain('It takes a time like 2030-01-01T00:00:00Z')
  }
})

test('a server on all addresses is reached on loopback', () => {
  expect(loopbackOf('http://0.0.0.0:80')).toBe('http://127.0.0.1:80')
  expect(loopbackOf('http://[::]:80')).toBe('http://[::1]:80')
})
