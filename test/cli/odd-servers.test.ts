import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lineOf, makeProgram } from '../../src/cli/program.ts'
import { until } from '../support/until.ts'
import { runWharf, temporaryFolder } from '../support/wharf-process.ts'

/** What a program may answer that is no Wharf, or that stands before one. */
const ANSWERS: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {
  'a page': (response) =>
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><h1>Welcome</h1>'),
  'other JSON': (response) => response.end('{"hello": "world", "items": [{"name": 1}]}'),
  'a list': (response) => response.end('[null]'),
  null: (response) => response.end('null'),
  'an error': (response) => response.writeHead(500).end('{"code": "INTERNAL", "detail": {"not": "a text"}}'),
  nothing: (response) => response.end(),
  'no content': (response) => response.writeHead(204).end(),
  'a cut connection': (response) => response.destroy(),
  'half an answer': (response) => {
    response.writeHead(200, { 'Content-Length': 1_000 }).write('{"status":')
    setImmediate(() => response.destroy())
  },
  'a redirect': (response, { url }) =>
    response.writeHead(307, { Location: `http://127.0.0.1:1${url}` }).end(),
  'a redirect to nowhere': (response) => response.writeHead(302).end(),
  'no answer': () => undefined,
}

const ONE_LINE = /^wharf: .+ \([A-Z_]+\)$/
const SECRET = 'a-secret-of-somebody'

/** A server that answers oddly, from the start or to all but `/readyz`. */
async function oddServer(answer: (typeof ANSWERS)[string], { looksReady = false } = {}) {
  const shown: string[] = []
  const server = createServer((request, response) => {
    if (request.headers.authorization !== undefined) shown.push(request.url ?? '')
    if (looksReady && request.url === '/readyz')
      response.end('{"status":"ready","ledger":"ok","writes":true}')
    else answer?.(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, shown }
}

/** How each command is led to a server; the rest of the table says who never asks one. */
const ASKING: Record<string, (server: string, folder: string) => string[]> = {
  'project create': (server) => ['shop', '--server', server],
  'project list': (server) => ['--server', server],
  'project rotate': (server) => ['shop', '--server', server],
  'project delete': (server) => ['shop', '--server', server],
  'key create': (server) => ['shop', '--name', 'ci', '--server', server],
  'key list': (server) => ['shop', '--server', server],
  'key revoke': (server) => ['shop', 'key', '--server', server],
  'saved apply': (server, folder) => [join(folder, 'saved.yaml'), '--server', server, '--key', SECRET],
  health: (server) => ['--server', server],
  doctor: (server) => [`${server}/orders`],
  export: (server, folder) => [`${server}/orders`, '-o', join(folder, 'orders.csv')],
}
/** They run until a signal. */
const LONG = ['serve', 'process', 'agent']
const ASK_NOBODY = ['config', 'verify', 'backup', 'restore']

function leavesOf(command: Command, path = ''): string[] {
  return command.commands.flatMap((child) => {
    const name = `${path} ${child.name()}`.trim()
    return child.commands.length > 0 ? leavesOf(child, name) : [name]
  })
}

/** Runs all at once; for each, the line that it ended with. What was printed besides is theirs together. */
async function runAll(commands: string[][], env: Record<string, string>) {
  const printed: string[] = []
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  for (const stream of ['log', 'error'] as const)
    vi.spyOn(console, stream).mockImplementation((text: string) => printed.push(text))
  const ends = commands.map(async (args) => {
    try {
      await makeProgram().parseAsync(args, { from: 'user' })
      return { args, line: undefined }
    } catch (error) {
      return { args, line: lineOf(error) }
    }
  })
  try {
    return { ends: await Promise.all(ends), printed: printed.join('\n'), exitCode: process.exitCode }
  } finally {
    process.exitCode = undefined
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  }
}

test('every command is in this test', () => {
  expect(leavesOf(makeProgram()).sort()).toEqual([...Object.keys(ASKING), ...LONG, ...ASK_NOBODY].sort())
})

test('whatever answers, a command says in one line what is wrong, and only a Wharf gets to see a secret', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'saved.yaml'), 'kind: template\nname: years\ntemplate: [{name: id}]\n')
  const env = { WHARF_DATA_DIR: folder, WHARF_ADMIN_TOKEN: SECRET }
  const cases = Object.entries(ANSWERS).flatMap(([what, answer]) =>
    [false, true].map((looksReady) => ({ what, answer, looksReady })),
  )
  const servers = await Promise.all(
    // What a Wharf does not answer is waited for much longer.
    cases
      .filter(({ what, looksReady }) => !looksReady || what !== 'no answer')
      .map(async ({ answer, ...odd }) => ({ ...odd, ...(await oddServer(answer, odd)) })),
  )
  for (const { origin, what, looksReady, shown } of servers) {
    const commands = Object.entries(ASKING)
      // Sources are asked again and again.
      .filter(([name]) => !/^(doctor|export)$/.test(name) || (what === 'a page' && !looksReady))
      .map(([name, argsFor]) => [...name.split(' '), ...argsFor(origin, folder)])
    const { ends, printed, exitCode } = await runAll(commands, env)
    expect(printed).not.toMatch(/^ +at |TypeError/m)
    for (const { args, line } of ends) {
      // These two print what they find.
      if (line === undefined && /^(doctor|health)$/.test(args[0] ?? '')) continue
      expect([what, args, line]).toEqual([what, args, expect.stringMatching(ONE_LINE)])
      expect(line).not.toContain(SECRET)
    }
    if (looksReady) continue
    expect([what, exitCode, shown]).toEqual([what, 1, []])
  }
  expect(servers.flatMap(({ shown }) => shown)).toContain('/api/projects')
})

test('a database, Redis or store that is something else costs one line, too', async () => {
  const folder = temporaryFolder()
  for (const what of ['a page', 'a cut connection', 'nothing']) {
    const { origin } = await oddServer(ANSWERS[what]!)
    const { host } = new URL(origin)
    const places: Record<string, string>[] = [
      { DATABASE_URL: `postgres://wharf:${SECRET}@${host}/wharf` },
      {
        S3_ENDPOINT: origin,
        S3_BUCKET: 'wharf',
        S3_ACCESS_KEY_ID: 'wharf',
        S3_SECRET_ACCESS_KEY: SECRET,
        REDIS_URL: `redis://:${SECRET}@${host}`,
      },
    ]
    for (const place of places) {
      const env = { WHARF_DATA_DIR: folder, WHARF_ADMIN_TOKEN: SECRET, ...place }
      const { ends, printed } = await runAll(
        [['backup', join(temporaryFolder(), 'copy')], ['project', 'list'], ['doctor']],
        env,
      )
      expect(printed).not.toMatch(/^ +at |TypeError/m)
      expect(printed).not.toContain(SECRET)
      for (const { args, line } of ends)
        if (args[0] !== 'doctor') expect([args, line]).toEqual([args, expect.stringMatching(ONE_LINE)])
    }
  }
})

test('an agent shows its token to nobody but a Wharf, and says what it found', async () => {
  const { origin, shown } = await oddServer(ANSWERS['a page']!)
  const token = `wae_${'x'.repeat(43)}.${'y'.repeat(43)}`
  const folder = temporaryFolder()
  const own = ['--id', 'host-1', '--root', folder, '--state', join(folder, 'state')]
  const { output } = runWharf(['agent', '--server', origin, ...own, '--enroll', token])
  await until('it says so', () => output.out.includes('will keep trying'))
  expect(output.out).toContain(`${origin} is not a Wharf`)
  expect([shown, output.err]).toEqual([[], ''])
})

test.each([
  'ftp://wharf.example.com',
  'wharf.example.com',
  'http://',
  'http://[bad',
  'http://a:b@wharf.example.com',
  'http://wharf.example.com/?x',
])('--server %s is refused in one line', async (server) => {
  const { ends } = await runAll([['health', '--server', server]], {})
  expect(ends[0]?.line).toBe(
    `wharf: --server takes an address like https://wharf.example.com, not '${server}' (CONFIG_INVALID)`,
  )
})

test('a fault of Wharf itself is one line, and its place is shown to those who ask', () => {
  const fault = new TypeError("cannot read 'map'\nof undefined")
  expect(lineOf(fault)).toBe("wharf: cannot read 'map'; WHARF_LOG_LEVEL=debug shows where")
  expect(lineOf(fault, { debug: true })).toContain('odd-servers.test.ts')
  expect(lineOf(undefined)).toMatch(/^wharf: .+/)
})
