import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { warnOfFewFiles } from '../../src/app/ground/file-limit.ts'
import { AgentState } from '../../src/carriers/swarm/agent/agent-state.ts'
import { SwarmAuthority } from '../../src/carriers/swarm/identity/authority.ts'
import { createLog, systemClock } from '../../src/kernel/index.ts'
import { spawnBound } from '../support/bound-process.ts'
import { fillDisk, smallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'

const MAIN = fileURLToPath(new URL('../../bin/wharf.mjs', import.meta.url))
const AGENT = ['agent', '--id', 'host-1']

/** The command with what it has printed so far; it is ended with the test. */
function wharf(args: string[], env: Record<string, string> = {}) {
  const child = spawnBound(process.execPath, [MAIN, ...args], {
    cwd: temporaryFolder(),
    env: {
      PATH: process.env.PATH ?? '',
      WHARF_DATA_DIR: temporaryFolder(),
      WHARF_PORT: '0',
      TASK_GRPC_PORT: '0',
      ...env,
    },
  })
  const printed = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      printed.text += chunk
    })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { printed, exited }
}

/** As if `host-1` had been enrolled before. */
async function enrolledState(): Promise<string> {
  const folder = temporaryFolder()
  const state = new AgentState(folder, { agentId: 'host-1', containerId: '' })
  const { trust } = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  await state.enrolled('token', await state.keyFor('token'), trust)
  return folder
}

/** A port that is taken, by a listener that closes every connection. */
async function takenPort(): Promise<number> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return (server.address() as { port: number }).port
}

async function expectOneLine(command: ReturnType<typeof wharf>, words: string[]): Promise<void> {
  expect(await command.exited).toBe(1)
  const lines = command.printed.text.trim().split('\n')
  expect(lines).toHaveLength(1)
  for (const word of words) expect(lines[0]).toContain(word)
}

test('an agent whose folder is missing says so in one line', async () => {
  const args = [
    ...AGENT,
    '--server',
    'http://127.0.0.1:1',
    '--root',
    '/no/such/folder',
    '--state',
    '/no/state',
  ]
  await expectOneLine(wharf(args), ['--root', '/no/such/folder'])
})

test('an agent whose address is in use says so in one line', async () => {
  const port = await takenPort()
  const listen = `127.0.0.1:${port}`
  const own = ['--root', temporaryFolder(), '--state', await enrolledState()]
  const args = [...AGENT, '--server', 'http://127.0.0.1:1', ...own, '--listen', listen]
  await expectOneLine(wharf(args), [listen, 'EADDRINUSE', '--listen'])
})

test('an agent that cannot reach its server says so and goes on trying', async () => {
  const server = `http://127.0.0.1:${await takenPort()}`
  const command = wharf([
    ...AGENT,
    '--server',
    server,
    '--root',
    temporaryFolder(),
    '--state',
    await enrolledState(),
    '--listen',
    '127.0.0.1:0',
  ])
  await until('it says that the server is away', () => command.printed.text.includes('will keep trying'))
  expect(command.printed.text).toContain(server.slice('http://'.length))
  expect(command.printed.text).not.toContain('    at ')
  expect(command.printed.text).not.toContain('serves')
})

test('a second agent on the same state says so in one line', async () => {
  const server = `http://127.0.0.1:${await takenPort()}`
  const state = await enrolledState()
  const own = ['--root', temporaryFolder(), '--state', state, '--listen', '127.0.0.1:0']
  const first = wharf([...AGENT, '--server', server, ...own])
  await until('the first one runs', () => first.printed.text.includes('will keep trying'))
  await expectOneLine(wharf([...AGENT, '--server', server, ...own]), ['another agent', `--state ${state}`])
})

test('a database that is away ends the start with one line that names its address', async () => {
  const port = await takenPort()
  const command = wharf(['serve'], { DATABASE_URL: `postgres://wharf:secret@127.0.0.1:${port}/wharf` })
  await expectOneLine(command, [`127.0.0.1:${port}`, 'DATABASE_URL'])
  expect(command.printed.text).not.toContain('secret')
})

test('a data folder that cannot be made ends the start with one line', async () => {
  const folder = join(MAIN, 'is-a-file')
  await expectOneLine(wharf(['serve'], { WHARF_DATA_DIR: folder }), [folder, 'there is a file in its place'])
})

const FOLDERS = ['WHARF_DATA_DIR', 'WHARF_SHARED_DIR', 'LOCAL_STORAGE_PATH', 'TEMP_STORAGE_PATH']

/** /proc answers that it does not exist to whoever makes a folder there, which Node's mkdir tries again for ever. */
test.runIf(existsSync('/proc/self')).each(FOLDERS)(
  'a folder of %s that the system never makes ends the start with one line',
  async (setting) => {
    for (const folder of ['/proc/wharf', '/proc/wharf/below', join(MAIN, 'is-a-file')])
      await expectOneLine(wharf(['serve'], { WHARF_LOG_LEVEL: 'warn', [setting]: folder }), [
        `the folder ${folder} cannot be used`,
        setting,
      ])
  },
)

test('an admin token that is empty or too short ends the start with one line', async () => {
  const folder = temporaryFolder()
  for (const content of ['', 'x', 'sixteen-characters\nand-more\n']) {
    writeFileSync(join(folder, 'admin-token'), content)
    await expectOneLine(wharf(['serve'], { WHARF_DATA_DIR: folder }), [
      'admin-token',
      'at least 16 characters',
    ])
  }
})

test('a processor whose Redis is away says so with its address, and waits for it', async () => {
  const port = await takenPort()
  const env = { REDIS_URL: `redis://:secret@127.0.0.1:${port}`, PROCESSOR_COMMAND: 'cp {input} {output}' }
  const command = wharf(['process'], env)
  await until('it says that Redis is away', () =>
    command.printed.text.includes(`Redis at 127.0.0.1:${port} cannot be reached`),
  )
  expect(command.printed.text).not.toContain('secret')
})

test('a server whose Redis is away says so in one line with its address, and serves', async () => {
  const port = await takenPort()
  const REDIS_URL = `redis://:secret@127.0.0.1:${port}`
  const { output, address } = await serveWharf({ REDIS_URL })
  await until('its duties wait', () => output.out.includes('duty waits for the redis'))
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  const said = output.out.split('\n').filter((line) => line.includes(`127.0.0.1:${port}`))
  expect(said.map((line) => JSON.parse(line).msg)).toEqual([
    expect.stringMatching(`^Redis at 127.0.0.1:${port} cannot be reached \\(\\w+\\); will keep trying$`),
  ])
  expect(output.out + output.err).not.toMatch(/ {4}at |secret/)
})

test.each([['serve'], [...AGENT, '--server', 'http://127.0.0.1:1', '--root', '/', '--state', '/tmp/none']])(
  'a start with the token of earlier versions says how to enrol (%s)',
  async (...args) => {
    const command = wharf(args, { WHARF_AGENT_TOKEN: 'agent-token-for-tests' })
    await expectOneLine(command, [
      'WHARF_AGENT_TOKEN',
      'POST /api/agents/enrollments',
      '--enroll TOKEN --state DIR',
    ])
    expect(command.printed.text).not.toContain('agent-token-for-tests')
  },
)

test('an agent that was not enrolled, or whose token is not good, is told how to', async () => {
  const server = await serveWharf({})
  const args = [...AGENT, '--server', server.address, '--root', temporaryFolder(), '--listen', '127.0.0.1:0']
  const state = ['--state', join(temporaryFolder(), 'state')]
  const how = 'POST /api/agents/enrollments'
  await expectOneLine(wharf([...args, ...state]), ['not enrolled', how])
  await expectOneLine(wharf([...args, ...state, '--enroll', 'guess']), ['--enroll takes a token', how])
  const guess = `wae_${'x'.repeat(43)}.${'y'.repeat(43)}`
  await expectOneLine(wharf([...args, ...state, '--enroll', guess]), ['the token is not good', how])
})

test('a data folder on a full disk is called full, not in use', async () => {
  const folder = smallDisk(4)
  if (folder === undefined) return console.error('!!! SKIPPED: a full disk; mounting needs root')
  fillDisk(folder, 0)
  const command = wharf(['serve'], { WHARF_DATA_DIR: folder })
  await expectOneLine(command, [folder, 'make room'])
  expect(command.printed.text).not.toContain('another Wharf')
})

test('a limit of few open files is said at the start', () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } })
  warnOfFewFiles(log, 65_536)
  warnOfFewFiles(log, 256)
  expect(lines).toEqual([expect.stringContaining('at most 256 files and connections')])
})
