import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { availableBackends, openBackend } from '../support/backends.ts'
import { spawnBound } from '../support/bound-process.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { fillDisk, smallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'
import { runWharf, serveWharf, temporaryFolder } from '../support/wharf-process.ts'

const MAIN = fileURLToPath(new URL('../../bin/wharf.mjs', import.meta.url))

describe('wharf serve', () => {
  test('a bad setting stops the start with one line', async () => {
    const { exited, output } = runWharf(['serve'], {
      WHARF_PORT: 'eighty',
      WHARF_DATA_DIR: temporaryFolder(),
    })
    expect(await exited).toMatchObject({ code: 1 })
    expect(output.err).toBe(
      "wharf: WHARF_PORT takes a whole number from 0 to 65535, not 'eighty' (CONFIG_INVALID)\n",
    )
    expect(output.out).toBe('')
  })

  test('a second server on the same data dir refuses to start and says what to do', async () => {
    const { dataDir } = await serveWharf()
    const second = runWharf(['serve'], { WHARF_PORT: '0', WHARF_DATA_DIR: dataDir })
    expect(await second.exited).toMatchObject({ code: 1 })
    expect(second.output.err).toMatch(
      /^wharf: another Wharf is running on the data directory .*WHARF_DATA_DIR.*\n$/,
    )
  })

  test('a port that is taken gives one line that names it', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    const { port } = blocker.address() as { port: number }
    const { exited, output } = runWharf(['serve'], {
      WHARF_PORT: String(port),
      WHARF_DATA_DIR: temporaryFolder(),
    })
    expect(await exited).toMatchObject({ code: 1 })
    blocker.close()
    expect(output.err).toMatch(new RegExp(`^wharf: .*127\\.0\\.0\\.1:${port}.*WHARF_PORT.*\\n$`))
  })

  test('a server on all addresses starts where a sandbox hides the network interfaces', async () => {
    const hidden = new URL('../support/hidden-interfaces.mjs', import.meta.url).href
    const wharf = await serveWharf({ NODE_OPTIONS: `--import=${hidden}`, WHARF_HOST: '0.0.0.0' })
    expect((await fetch(`http://127.0.0.1:${new URL(wharf.address).port}/readyz`)).status).toBe(200)
    expect(wharf.output.out).toContain('allow AF_NETLINK')
  })

  test('a host that is none of this machine is named with its setting', async () => {
    for (const WHARF_HOST of ['nohost.invalid', '203.0.113.9']) {
      const env = {
        WHARF_HOST,
        WHARF_PORT: '0',
        WHARF_LOG_LEVEL: 'silent',
        WHARF_DATA_DIR: temporaryFolder(),
      }
      const { exited, output } = runWharf(['serve'], env)
      expect(await exited).toMatchObject({ code: 1 })
      expect(output.err).toMatch(
        /^wharf: cannot listen on WHARF_HOST=\S+ \([A-Z_]+\): set it to an address .*\n$/,
      )
    }
  })

  test('a start on a full disk names the folder and what to do', async ({ skip }) => {
    for (const kilobytes of [100, 500]) {
      const WHARF_DATA_DIR = smallDisk(1)
      if (WHARF_DATA_DIR === undefined) return skip('mounting is not permitted here')
      fillDisk(WHARF_DATA_DIR, kilobytes * 1024)
      const env = { WHARF_DATA_DIR, WHARF_PORT: '0', WHARF_LOG_LEVEL: 'silent' }
      const { exited, output } = runWharf(['serve'], env)
      expect(await exited).toMatchObject({ code: 1 })
      expect(output.err).toContain(WHARF_DATA_DIR)
      expect(output.err).toMatch(/^wharf: .*make room.*WHARF_DATA_DIR.*\(STORAGE_FULL\)\n$/)
    }
  })

  test('a data dir that is moved away makes the server not ready until it is back', async () => {
    const WHARF_DATA_DIR = join(temporaryFolder(), 'data')
    const { address } = await serveWharf({ WHARF_DATA_DIR, WHARF_ADMIN_TOKEN: ADMIN_TOKEN })
    const create = () =>
      fetch(`${address}/api/projects`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'shop' }),
      })
    const ready = async () => {
      const answer = await fetch(`${address}/readyz`)
      const { ledger, writes } = (await answer.json()) as { ledger: string; writes: boolean }
      return [answer.status, ledger, writes]
    }
    expect(await ready()).toEqual([200, 'ok', true])
    renameSync(WHARF_DATA_DIR, `${WHARF_DATA_DIR}-moved`)
    expect(await ready()).toEqual([
      503,
      expect.stringContaining(`put the folder ${WHARF_DATA_DIR} back`),
      false,
    ])
    const refused = await create()
    expect([refused.status, await refused.text()]).toEqual([
      503,
      expect.stringContaining('LEDGER_UNAVAILABLE'),
    ])
    renameSync(`${WHARF_DATA_DIR}-moved`, WHARF_DATA_DIR)
    expect(await ready()).toEqual([200, 'ok', true])
    expect((await create()).status).toBe(201)
  })

  test('SIGTERM drains and ends with 0, and the data dir can be used again', async () => {
    const first = await serveWharf({}, ['--demo'])
    const key = /wharf_[0-9a-f]{32}_[\w-]+/.exec(first.output.out)?.[0]
    first.child.kill('SIGTERM')
    expect(await first.exited).toEqual({ code: 0, signal: null })
    const second = await serveWharf({ WHARF_DATA_DIR: first.dataDir }, ['--demo'])
    expect((await fetch(`${second.address}/readyz`)).status).toBe(200)
    expect(key).toBeDefined()
    expect(second.output.out).toContain(key)
  })

  test('the admin token that is made on first start is kept for its owner only', async () => {
    const { dataDir } = await serveWharf()
    expect(statSync(join(dataDir, 'admin-token')).mode & 0o777).toBe(0o600)
  })

  test('the printed curl lines work by copy and paste', async () => {
    const { output } = await serveWharf({}, ['--demo'])
    const [atOnce = '', asTask = ''] = output.out.split('\n').filter((line) => /^\s*curl /.test(line))
    const cwd = temporaryFolder()
    const run = (line: string) => spawnSync('sh', ['-c', line], { cwd, encoding: 'utf8' })
    expect(run(atOnce)).toMatchObject({ status: 0, stderr: '' })
    const file = readFileSync(join(cwd, 'orders.xlsx'))
    expect(file.subarray(0, 4).toString('latin1')).toBe('PK\x03\x04')
    expect(file.includes('xl/workbook.xml')).toBe(true)
    const { status, stdout } = run(asTask)
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ task_id: expect.any(String), status: 'pending' })
  })

  test('the printed lines for an agent work by copy and paste', async () => {
    const { output } = await serveWharf({}, ['--demo'])
    const lines = output.out.split('\n').filter((line) => /^\s*(TOKEN=|mkdir -p .*wharf agent)/.test(line))
    expect(lines).toHaveLength(2)
    const script = lines.join('\n').replace('npx wharf', `exec '${process.execPath}' '${MAIN}'`)
    const child = spawnBound('sh', ['-c', `${script} --listen 127.0.0.1:0`], {
      cwd: temporaryFolder(),
      env: { PATH: process.env.PATH ?? '', HOME: temporaryFolder() },
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        printed += chunk
      })
    await until('the agent is connected', () => printed.includes('"connected"') || child.exitCode !== null)
    child.kill('SIGTERM')
    await once(child, 'close')
    expect(printed).toContain('wharf agent demo-host serves')
    expect(printed).not.toContain('takes no files')
  })

  test('nothing is printed that is switched off', async () => {
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'a-token-for-this-test\n')
    const { output } = await serveWharf(
      { WHARF_DOCS: 'off', WHARF_SAMPLES: 'off', WHARF_ADMIN_TOKEN_FILE: file },
      ['--demo'],
    )
    expect(output.out).not.toMatch(/\/docs|\/samples/)
    expect(output.out).toContain(`$(cat '${file}')`)
  })

  test('standard output has the log alone, and the address is in it', async () => {
    const { address, output, child, exited } = await serveWharf({ WHARF_LOG_LEVEL: 'info' })
    child.kill('SIGTERM')
    await exited
    const messages = output.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg)
    expect(messages).toContain(`wharf is listening on ${address}`)
  })

  test('help and version are answered without a server', async () => {
    const help = runWharf(['--help'])
    expect(await help.exited).toMatchObject({ code: 0 })
    expect(help.output.out).toContain('serve')
    const version = runWharf(['--version'])
    await version.exited
    expect(version.output.out).toMatch(/^\d+\.\d+\.\d+/)
  })

  test('an unknown command is refused with its usage', async () => {
    const wrong = runWharf(['sevre'])
    expect(await wrong.exited).toMatchObject({ code: 2 })
    expect(wrong.output.err).toMatch(/^wharf: unknown command 'sevre'.*Usage: wharf.*--help.*\n$/)
  })
})

test.runIf(availableBackends().includes('postgres + redis'))(
  'two instances on PostgreSQL and Redis accept the same admin token and see the same projects',
  async () => {
    const backend = await openBackend('postgres + redis')
    const { DATABASE_URL = '', REDIS_URL = '', WHARF_REDIS_PREFIX = '', WHARF_SHARED_DIR = '' } = backend.env
    const ground = { DATABASE_URL, REDIS_URL, WHARF_REDIS_PREFIX, WHARF_SHARED_DIR }
    const env = { ...ground, WHARF_ADMIN_TOKEN: 'the-same-admin-token' }
    const [one, two] = await Promise.all([serveWharf(env), serveWharf(env)])
    const headers = { authorization: 'Bearer the-same-admin-token', 'content-type': 'application/json' }
    await fetch(`${one.address}/api/projects`, { method: 'POST', headers, body: '{"name":"shared"}' })
    const list = (await (await fetch(`${two.address}/api/projects`, { headers })).json()) as {
      items: object[]
    }
    expect(list.items).toMatchObject([{ name: 'shared' }])
    for (const { child, exited } of [one, two]) {
      child.kill('SIGTERM')
      expect(await exited).toMatchObject({ code: 0 })
    }
    await backend.remove()
  },
)

test.runIf(availableBackends().includes('postgres + redis'))(
  'an instance that would not see the files of a living one refuses to start; one that comes back does not',
  async () => {
    const backend = await openBackend('postgres + redis')
    const { DATABASE_URL = '', REDIS_URL = '', WHARF_REDIS_PREFIX = '' } = backend.env
    const env = { DATABASE_URL, REDIS_URL, WHARF_REDIS_PREFIX }
    const first = await serveWharf(env)
    const folder = temporaryFolder()
    const second = runWharf(['serve'], { ...env, WHARF_PORT: '0', WHARF_DATA_DIR: folder })
    expect(await second.exited).toMatchObject({ code: 1 })
    // It was refused before anything was made that others may read: uploads and results are for a group.
    for (const name of readdirSync(folder))
      expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0])
    expect(second.output.err).toMatch(
      /^wharf: another Wharf \(process \d+ on \S+\) runs on this ledger, .*WHARF_SHARED_DIR.* \(FILES_NOT_SHARED\)\n$/,
    )
    first.child.kill('SIGKILL')
    await first.exited
    const again = await serveWharf({ ...env, WHARF_DATA_DIR: first.dataDir })
    again.child.kill('SIGTERM')
    expect(await again.exited).toMatchObject({ code: 0 })
    await backend.remove()
  },
)

test.runIf(availableBackends().includes('postgres + redis'))(
  'without Redis a second instance on the same PostgreSQL refuses to start',
  async () => {
    const backend = await openBackend('postgres + redis')
    const { DATABASE_URL = '' } = backend.env
    const first = await serveWharf({ DATABASE_URL })
    const second = runWharf(['serve'], { DATABASE_URL, WHARF_PORT: '0', WHARF_DATA_DIR: temporaryFolder() })
    expect(await second.exited).toMatchObject({ code: 1 })
    expect(second.output.err).toMatch(
      /^wharf: another Wharf already runs on this DATABASE_URL; .*REDIS_URL.*\n$/,
    )
    first.child.kill('SIGTERM')
    await first.exited
    await backend.remove()
  },
)

test.runIf(availableBackends().includes('postgres + redis'))(
  'a data dir has one living instance on PostgreSQL too, also while that one is stopped; one that was killed comes back at once',
  async () => {
    const backend = await openBackend('postgres + redis')
    const env = {
      ...backend.env,
      WHARF_DATA_DIR: temporaryFolder(),
      WHARF_ADMIN_TOKEN: 'the-same-admin-token',
    }
    const first = await serveWharf(env)
    const refused = async (more: Record<string, string>) => {
      const { WHARF_DATA_DIR } = env
      const second = runWharf(['serve'], { ...more, WHARF_DATA_DIR, WHARF_PORT: '0' })
      expect(await second.exited).toMatchObject({ code: 1 })
      expect(second.output.err).toMatch(
        /^wharf: another Wharf is running on the data directory \S+; .*WHARF_DATA_DIR.* \(DATA_DIR_LOCKED\)\n$/,
      )
      expect(readFileSync(join(WHARF_DATA_DIR, 'address'), 'utf8')).toBe(`${first.address}\n`)
    }
    await refused(env)
    // Nor one with a ledger of its own in the same folder.
    await refused({})
    first.child.kill('SIGSTOP')
    await refused(env)
    first.child.kill('SIGKILL')
    await first.exited
    const again = await serveWharf(env)
    again.child.kill('SIGTERM')
    expect(await again.exited).toMatchObject({ code: 0 })
    await backend.remove()
  },
)
