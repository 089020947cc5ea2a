import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkBackup, checkClock, checkLedger } from '../../src/app/doctor/check-ledger.ts'
import { isAtLeast } from '../../src/app/doctor/finding.ts'
import { loadConfig } from '../../src/config.ts'
import type { LedgerFacts } from '../../src/ledger/index.ts'
import { availableBackends, openBackend } from '../support/backends.ts'
import { ExportClient } from '../support/export-client.ts'
import { Front } from '../support/front.ts'
import { newProject, startHttp } from '../support/http.ts'
import { startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { runWharf, serveWharf, temporaryFolder } from '../support/wharf-process.ts'

interface Found {
  level: string
  check: string
  message: string
}

async function examine(env: Record<string, string>, ...args: string[]) {
  const { exited, output } = runWharf(['doctor', ...args], env)
  return { ...(await exited), ...output }
}

/** The findings as JSON, and how it ended. */
async function findings(env: Record<string, string>, ...args: string[]) {
  const { code, out, err } = await examine(env, '--json', ...args)
  expect(err).toBe('')
  const { findings: found } = JSON.parse(out) as { findings: Found[] }
  return { code, found, of: (check: string) => found.filter((one) => one.check === check) }
}

test('a key that opens no secret of the ledger is found before a start refuses it', async () => {
  const env = { WHARF_DATA_DIR: temporaryFolder(), WHARF_ADMIN_TOKEN: 'a-token-for-this-test' }
  const key = (byte: number) => ({ WHARF_SEAL_KEY: Buffer.alloc(32, byte).toString('base64') })
  const server = await serveWharf({ ...env, ...key(1) })
  server.child.kill('SIGTERM')
  await server.exited
  expect((await findings({ ...env, ...key(1) })).code).toBe(0)
  for (const other of [key(2), {}]) {
    const { code, of } = await findings({ ...env, ...other })
    expect(code).toBe(1)
    expect(of('settings')).toContainEqual(
      expect.objectContaining({
        level: 'fail',
        message: expect.stringContaining('WHARF_SEAL_KEY is not the key'),
      }),
    )
  }
})

test('a server that takes connections and never answers is a failure', async () => {
  const WHARF_DATA_DIR = temporaryFolder()
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  writeFileSync(join(WHARF_DATA_DIR, 'address'), `${address}\n`)
  const { code, of } = await findings({ WHARF_DATA_DIR })
  expect(code).toBe(1)
  expect(of('server')).toMatchObject([
    { level: 'fail', message: expect.stringMatching(`^${address} takes connections and does not answer`) },
  ])
})

describe.each(availableBackends())('on %s', (name) => {
  test('--files reads every stored file, and names those that have other bytes or are gone', async () => {
    const wharf = await startHttp(name)
    const { key } = await newProject(wharf)
    for (const file of ['sound', 'changed', 'gone'])
      await wharf.ask('PUT', `/api/repository/${file}`, { key, body: `the bytes of ${file}` })
    const client = new ExportClient(wharf.ask, await newProject(wharf))
    const source_url = `${wharf.address}/samples/orders?rows=10`
    await client.run({ source_url, keep_rows_hours: 1 })
    const read = async () => (await findings(wharf.backend.env, '--files')).of('store')
    expect((await read()).at(-1)).toMatchObject({
      level: 'ok',
      message: expect.stringMatching(/^5 files, .* all are/),
    })
    const folder = join(wharf.config.filesDir, 'files')
    const blobs = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.blob'),
    )
    const blobOf = (text: string) =>
      blobs
        .map((path) => join(folder, path))
        .find((path) => readFileSync(path, 'utf8') === `the bytes of ${text}`) as string
    writeFileSync(blobOf('changed'), 'the bytes of CHANGED')
    rmSync(blobOf('gone'))
    const found = (await read()).filter(({ level }) => level === 'fail').map(({ message }) => message)
    expect(found).toEqual([
      expect.stringMatching(/^5 files, .* 2 are not as they were stored$/),
      expect.stringMatching(/: (it has other bytes|there is no file)/),
      expect.stringMatching(/: (it has other bytes|there is no file)/),
    ])
  })

  test('an installation that runs is well, but for what it lacks', async () => {
    const wharf = await startHttp(name)
    const { code, of, found } = await findings(wharf.backend.env)
    expect([code, found.filter(({ level }) => level === 'fail')]).toEqual([0, []])
    expect(of('server')).toMatchObject([{ level: 'ok', message: expect.stringContaining(wharf.address) }])
    expect(of('ledger')[0]).toMatchObject({
      level: 'ok',
      message: expect.stringMatching(/^(SQLite|PostgreSQL) \d.*, schema \d+, 1 living instance, version \d/),
    })
    expect(of('store')[0]?.message).toContain('takes, gives and deletes files')
    expect(of('disk').length).toBeGreaterThan(0)
    expect(of('backup')).toMatchObject([{ level: 'warn', message: expect.stringContaining('wharf backup') }])
    if (name !== 'embedded') {
      expect(of('ledger')[1]?.message).toMatch(
        /^1 × 13 connections may be wanted, PostgreSQL allows \d+ \(\d+ in use\)/,
      )
      expect(of('redis')[0]).toMatchObject({ level: 'ok', message: expect.stringMatching(/^Redis \d/) })
      expect(of('clock').map(({ level }) => level)).toEqual(['ok', 'ok'])
      expect(of('store')[1]).toMatchObject({
        level: 'ok',
        message: expect.stringContaining('files are shared'),
      })
    }
    const at = new Date(Date.now() - 3 * 3_600_000).toISOString()
    await wharf.ledger.db
      .insertInto('settings')
      .values({ key: 'last_backup_at', value: at, updated_at: 0 })
      .execute()
    expect((await findings(wharf.backend.env)).of('backup')).toMatchObject([
      { level: 'ok', check: 'backup', message: 'the last back-up is 3 hours old', kind: 'backup_age' },
    ])
  })

  test('a ledger of a newer version is a failure', async () => {
    const backend = await openBackend(name)
    const ledger = await backend.openLedger()
    await ledger.db
      .insertInto('schema_versions')
      .values({ version: 9_999, name: 'later', applied_at: 0 })
      .execute()
    await ledger.close()
    const { code, of } = await findings(backend.env)
    expect([code, of('ledger')[0]]).toMatchObject([
      1,
      { level: 'fail', message: expect.stringContaining('schema 9999') },
    ])
    await backend.remove()
  })
})

test('where nothing is yet, nothing is made, and nothing is wrong', async () => {
  const dataDir = join(temporaryFolder(), 'none')
  const { code, out } = await examine({ WHARF_DATA_DIR: dataDir })
  expect(code).toBe(0)
  expect(out).toMatch(/^✓ settings wharf \S+ on Node v24/m)
  expect(out).toMatch(/^! ledger {3}there is no ledger in .* yet; the first start makes one$/m)
  expect(existsSync(dataDir)).toBe(false)
})

test('in a folder that is there and empty, nothing is left behind', async () => {
  const WHARF_DATA_DIR = temporaryFolder()
  const { code, of } = await findings({ WHARF_DATA_DIR })
  expect(of('store')).toMatchObject([
    { level: 'ok', message: expect.stringContaining('takes, gives and deletes files') },
  ])
  expect([code, readdirSync(WHARF_DATA_DIR)]).toEqual([0, []])
})

test('folders that no start could make fail with a line each, which names the setting', async () => {
  const file = join(temporaryFolder(), 'a-file')
  writeFileSync(file, '')
  // /proc answers that it does not exist to whoever makes a folder there.
  const never = existsSync('/proc/self') ? '/proc/wharf' : join(file, 'below')
  const env = {
    WHARF_DATA_DIR: join(temporaryFolder(), 'none'),
    WHARF_SHARED_DIR: never,
    LOCAL_STORAGE_PATH: join(file, 'videos'),
  }
  const { code, of } = await findings(env)
  const failed = of('store').filter(({ level }) => level === 'fail')
  expect([code, failed.map(({ message }) => message)]).toEqual([
    1,
    [
      expect.stringMatching(new RegExp(`^the folder ${never} cannot be used .* or set WHARF_SHARED_DIR to`)),
      expect.stringMatching(
        /^the folder .*videos cannot be used \(there is a file in its place\); .* LOCAL_STORAGE_PATH to/,
      ),
    ],
  ])
})

test('what is away fails with a line each, and no password is shown', async () => {
  const front = await Front.open()
  const env = {
    WHARF_DATA_DIR: temporaryFolder(),
    DATABASE_URL: `postgres://wharf:secret-word@127.0.0.1:${front.port}/wharf`,
    REDIS_URL: `redis://:secret-word@127.0.0.1:${front.port}`,
    S3_ENDPOINT: front.url,
    S3_BUCKET: 'files',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'secret-word',
  }
  const { code, out, err } = await examine(env)
  await front.close()
  expect([code, err]).toEqual([1, ''])
  for (const check of ['ledger', 'redis', 'store']) expect(out).toMatch(new RegExp(`^✗ ${check} `, 'm'))
  expect(out).not.toContain('secret-word')
})

test.runIf(availableBackends().length > 1)('files that are not shared are found', async () => {
  const wharf = await startHttp('postgres + redis')
  const { WHARF_SHARED_DIR, ...alone } = wharf.backend.env
  expect((await findings(alone as Record<string, string>)).of('store').at(-1)).toMatchObject({
    level: 'warn',
    message: expect.stringContaining('not shared'),
  })
  const other = { ...wharf.backend.env, WHARF_SHARED_DIR: temporaryFolder() }
  expect((await findings(other)).of('store').at(-1)).toMatchObject({
    level: 'fail',
    message: expect.stringContaining('not the same folder'),
  })
  rmSync(join(WHARF_SHARED_DIR ?? '', 'instances'), { recursive: true })
  expect((await findings(wharf.backend.env)).code).toBe(1)
})

test('a Redis that keeps nothing, or drops things when it is full, is told of', async ({ skip }) => {
  const server = await startRedis()
  if (!server) return skip('needs the program redis-server')
  onTestFinished(() => server.remove())
  const env = { WHARF_DATA_DIR: temporaryFolder(), REDIS_URL: server.url }
  const messages = async () => (await findings(env)).of('redis').map(({ message }) => message)
  expect(await messages()).toEqual([
    expect.stringMatching(/^Redis \d/),
    expect.stringContaining('it keeps nothing on disk'),
  ])
  const redis = new Redis(server.url)
  await redis.config('SET', 'appendonly', 'yes')
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  redis.disconnect()
  expect(await messages()).toEqual([
    expect.stringMatching(/^Redis \d/),
    expect.stringContaining('maxmemory-policy is allkeys-lru'),
  ])
  // A start says so once, as a line of the log, however many connections it opens.
  const { output } = await serveWharf({ REDIS_URL: server.url })
  const said = () => output.out.split('\n').filter((line) => line.includes('noeviction'))
  await until('it is said', () => said().length > 0)
  expect(said().map((line) => JSON.parse(line))).toMatchObject([{ level: 40, policy: 'allkeys-lru' }])
  expect(output.err).not.toMatch(/evict/i)
})

const FACTS: LedgerFacts = {
  ...{
    version: '15.4',
    schema: 3,
    knownSchema: 3,
    aheadMs: 0,
    instances: [],
    seals: new Map(),
    lastBackup: null,
    unsafe: [],
  },
  connections: { most: 97, used: 4 },
}
const scaledOut = loadConfig({ DATABASE_URL: 'postgres://db/wharf', REDIS_URL: 'redis://redis' })

test.each([
  [{ most: 97, used: 4 }, 'ok'],
  [{ most: 20, used: 4 }, 'warn'],
  [{ most: 12, used: 4 }, 'fail'],
])('with room for %o connections, one instance is %s', (connections, level) => {
  expect(checkLedger(scaledOut, { ...FACTS, connections }).at(-1)?.level).toBe(level)
})

test('an old PostgreSQL, an older schema and settings that risk data are told', () => {
  const found = checkLedger(scaledOut, { ...FACTS, version: '12.9', schema: 2, unsafe: ['fsync'] })
  expect(found.map(({ level }) => level)).toEqual(['fail', 'warn', 'ok', 'warn'])
  expect(found.at(-1)?.message).toMatch(/^fsync is off/)
})

test.each([
  [20, 'ok'],
  [-1_500, 'warn'],
  [45_000, 'fail'],
])('a clock that is %i ms ahead is %s', (ms, level) => {
  expect(checkClock('the ledger', ms)).toMatchObject([{ level }])
})

test('a back-up is old after two days, in whichever form its time is kept', () => {
  const now = Date.UTC(2026, 1, 10)
  const at = (days: number) => now - days * 86_400_000
  const level = (lastBackup: string) => checkBackup({ ...FACTS, lastBackup }, now)[0]?.level
  expect(level(String(at(1)))).toBe('ok')
  expect(level(new Date(at(3)).toISOString())).toBe('warn')
  expect(level('yesterday, I think')).toBe('warn')
})

test('versions are compared by number', () => {
  expect(
    ['6.2.0', '7.0.15', '10.1', '16.4 (Debian 16.4-1)'].map((version) => isAtLeast(version, '6.2')),
  ).toEqual([...[true, true, true, true]])
  expect(isAtLeast('6.0.16', '6.2')).toBe(false)
})
