import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientReadableStream, credentials, makeClientConstructor } from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'
import { expect, onTestFinished, test } from 'vitest'
import { Agent } from '../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { startFeed } from '../runs/feed-server.ts'
import { agentOptions } from '../support/agents.ts'
import { availableBackends, openBackend, silentLog } from '../support/backends.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { gate } from '../support/engines.ts'
import { bearer, openSocket } from '../support/event-readers.ts'
import { problemOf } from '../support/export-client.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import {
  agentLine,
  heldCommand,
  jobsIn,
  stalled,
  startStoppable,
  untilConnected,
} from '../support/stopping.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'

test('SIGTERM lets work finish while clients are answered, then sends them elsewhere and ends before its time', async () => {
  const business = await BusinessSystem.start()
  const source = business.source({ total: 300 })
  source.holdFrom(1)
  const wharf = await startStoppable({ WHARF_DRAIN_SECONDS: '100' })
  const { client, ask } = wharf
  const key = client.project.key
  const task = await client.start({ source_url: source.url, type: 'csv', page_size: 100 })
  await source.untilHeld()
  const { socket, ...watching } = await openSocket(`${wharf.address()}/ws`, bearer(key))
  const told = once(socket, 'close')
  const stream = await fetch(`${wharf.address()}/api/events`, { headers: { authorization: `Bearer ${key}` } })
  const events = stream.text()
  const agent = await agentLine(wharf.address(), 'idle')
  await stalled(wharf.address())

  const { ended } = await wharf.terminate()
  const unready = await until('it is not ready', async () => {
    const answer = await ask('GET', '/readyz')
    return answer.status === 503 && answer
  })
  expect(await unready.json()).toEqual({ status: 'shutting down', ledger: 'ok', writes: true })
  expect(unready.headers.get('connection')).toBe('close')
  // Not claimed here, but kept.
  const later = await client.start({ source_url: business.source({ total: 3 }).url, type: 'csv' })
  expect((await client.task(task.task_id)).status).toBe('processing')
  source.release()
  expect(await ended, wharf.output().err).toMatchObject({ code: 0, signal: null })
  expect((await ended).ms, 'it did not wait for its time to pass').toBeLessThan(60_000)

  await watching.until('export.succeeded', task.task_id)
  expect(await events).toMatch(/"export\.succeeded"/)
  expect(await told).toMatchObject([1001, expect.anything()])
  expect(await agent.closed).toEqual({ code: 1012, reason: 'the server is stopping; connect again' })
  expect(await jobsIn(wharf.dataDir)).toEqual([
    { kind: 'export', state: 'succeeded', attempts: 1, crashes: 0 },
    { kind: 'export', state: 'pending', attempts: 0, crashes: 0 },
  ])
  expect(source.pages.toSorted()).toEqual([0, 1, 2])
  await wharf.startAgain()
  expect(await client.ended(later.task_id)).toMatchObject({ status: 'succeeded' })
})

test.each(availableBackends())(
  'SIGTERM ends an idle server on %s at once, with an agent connected',
  async (name) => {
    const backend = await openBackend(name)
    onTestFinished(() => backend.remove())
    const { WHARF_DATA_DIR: _, ...env } = backend.env
    const server = await serveWharf({
      ...env,
      WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
      WHARF_DRAIN_SECONDS: '100',
    })
    const agent = await agentLine(server.address, 'idle')
    server.child.kill('SIGTERM')
    const at = performance.now()
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(performance.now() - at).toBeLessThan(60_000)
    expect(await agent.closed).toMatchObject({ code: 1012 })
  },
)

test('the port stays open for as long as load balancers need to notice, and a second signal ends all at once', async () => {
  const wharf = await startStoppable({ WHARF_DRAIN_SECONDS: '600', WHARF_UNREADY_SECONDS: '600' })
  const first = await wharf.terminate()
  await until('it is not ready', async () => (await wharf.ask('GET', '/readyz')).status === 503)
  expect((await wharf.ask('GET', '/api/session', { key: wharf.client.project.key })).status).toBe(200)
  await wharf.terminate()
  expect(await first.ended).toMatchObject({ code: 130, signal: null })
})

test('SIGTERM with clients that all stand still lets an export finish that needs half the drain, and ends in time', async () => {
  const drainMs = 16_000
  const business = await BusinessSystem.start()
  const wharf = await startStoppable({ WHARF_DRAIN_SECONDS: String(drainMs / 1_000) })
  const { client } = wharf
  const { key } = client.project
  const file = await client.run(bigExport(business))
  const source = business.source({ total: 300 })
  source.holdFrom(1)
  const task = await client.start({ source_url: source.url, type: 'csv', page_size: 100 })
  await source.untilHeld()

  const { socket, ...watching } = await openSocket(`${wharf.address()}/ws`, bearer(key))
  const told = once(socket, 'close')
  const stream = await fetch(`${wharf.address()}/api/events`, { headers: bearer(key) })
  const events = stream.text()
  const agent = await agentLine(wharf.address(), 'idle')
  const silent = await agentLine(wharf.address(), 'silent')
  silent.socket.pause()
  const still = await openSocket(`${wharf.address()}/ws`, bearer(key))
  still.socket.pause()
  await stallStream(wharf.address(), key)
  await stallDownload(wharf.address(), key, file.task_id)
  const half = randomBytes(1_000_000)
  const halfPath = await stallUpload(wharf.address(), key, half)

  const at = performance.now()
  const { ended } = await wharf.terminate()
  await until('half of the drain is over', () => performance.now() - at > drainMs / 2)
  source.release()
  expect(await ended, wharf.output().err).toMatchObject({ code: 0, signal: null })
  // Two seconds more than the drain are promised; the rest is for a machine that is busy with other things.
  expect((await ended).ms).toBeLessThan(drainMs + 30_000)
  expect(wharf.output().out).not.toMatch(/not everything has stopped in time|"unforeseen"/)

  await watching.until('export.succeeded', task.task_id)
  expect(await events).toMatch(/"export\.succeeded"/)
  expect(await told).toMatchObject([1001, expect.anything()])
  expect(await agent.closed).toMatchObject({ code: 1012 })
  const done = { kind: 'export', state: 'succeeded', attempts: 1, crashes: 0 }
  expect(await jobsIn(wharf.dataDir)).toEqual([done, done])
  expect(source.pages.toSorted()).toEqual([0, 1, 2])
  await wharf.startAgain()
  const offset = await offsetOf(wharf.address(), key, halfPath)
  expect(offset).toBeGreaterThan(0)
  await sendRest(wharf.address(), key, halfPath, half, offset)
})

test('work and clients that take longer than the drain are let go in time, cost no attempt, and are finished by the next process', async () => {
  const business = await BusinessSystem.start()
  const { command, held, begun } = heldCommand()
  const wharf = await startStoppable({ WHARF_DRAIN_SECONDS: '3', PROCESSOR_COMMAND: command })
  const { client, ask, dataDir } = wharf
  const { key } = client.project

  // Its callback hangs.
  const receiver = gate()
  const callbacks: string[] = []
  const callback = business.at('/hangs', (request, response) => {
    callbacks.push(String(request.headers['webhook-id']))
    void receiver.passed.then(() => response.writeHead(204).end())
  })
  const file = await client.start({ ...bigExport(business), callback })
  expect(await client.ended(file.task_id)).toMatchObject({ status: 'succeeded' })
  await until('the callback is under way', () => callbacks.length > 0)

  const source = business.source({ total: 300 })
  source.holdFrom(1)
  const slow = await client.start({ source_url: source.url, type: 'csv', page_size: 100 })
  await source.untilHeld()

  const feed = await startFeed([{ id: 'a', body: Buffer.from('a file') }])
  const page = gate()
  const pages: number[] = []
  feed.answerPages(async (number) => {
    pages.push(number)
    await page.passed
    return false
  })
  await ask('PUT', '/api/accounts/acme', { body: { url: feed.url } })
  const { run_id } = await json(ask('POST', '/api/runs', { body: { handle: 'acme', kind: 'start' } }))
  await until('the run reads its feed', () => pages.length > 0)

  const root = join(temporaryFolder(), 'root')
  mkdirSync(root)
  const receiving = new Agent(
    { clock: systemClock, log: silentLog },
    { ...(await agentOptions(wharf.front, 'host-1', root)), downloadLimit: 200_000 },
  )
  await receiving.start()
  onTestFinished(() => receiving.stop())
  await untilConnected(ask, ['host-1'])
  const content = randomBytes(2_500_000)
  const signature = createHash('sha256').update(content).digest('hex')
  await fetch(`${wharf.address()}/api/repository/release/app.bin`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}` },
    body: content,
  })
  const transfer = await json(
    ask('POST', '/api/transfers', {
      key,
      body: {
        ...{ biz_id: 1, app_id: 1, file_path: '/release', file_name: 'app.bin', file_signature: signature },
        ...{ target_agent_id: 'host-1', target_file_dir: join(root, 'in') },
      },
    }),
  )
  const transferPath = `/api/transfers/${encodeURIComponent(String(transfer.task_id))}`
  await until('the transfer is under way', async () => {
    const { status, progress } = await json(ask('GET', transferPath, { key }))
    return status === 'Running' && (progress as { percent: number }).percent > 0
  })

  const video = await upload(wharf.address(), key, randomBytes(1_000))
  await until('the command runs', () => readdirSync(begun).length > 0)
  const half = randomBytes(1_000_000)
  const halfPath = await stallUpload(wharf.address(), key, half)
  await stallDownload(wharf.address(), key, file.task_id)
  await stallStream(wharf.address(), key)
  await stalled(wharf.address(), 'GET /api/exports HTTP/1.1\r\nHost: x\r\nX-Half: ')
  await stalled(wharf.address())
  const { socket } = await openSocket(`${wharf.address()}/ws`, bearer(key))
  socket.pause()
  const silent = await agentLine(wharf.address(), 'silent')
  silent.socket.pause()
  const health = await watchHealth(wharf.grpcAddress())
  const held2 = business.source({ total: 1 })
  held2.holdFrom(0)
  const preview = client.ask('POST', '/api/exports/preview', { key, body: { source_url: held2.url } })
  await held2.untilHeld()

  const { ended } = await wharf.terminate()
  const refused = await preview
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await problemOf(refused)).toMatchObject({ code: 'SHUTTING_DOWN', status: 503 })
  expect(await ended, wharf.output().err).toMatchObject({ code: 0, signal: null })
  // Five seconds are promised; the rest is for a machine that is busy with other things.
  expect((await ended).ms).toBeLessThan(30_000)
  expect(health.statuses.at(-1)).toBe('NOT_SERVING')
  expect(wharf.output().out).not.toMatch(/reply\.sent|"unforeseen"/)
  expect((await jobsIn(dataDir)).toSorted((a, b) => a.kind.localeCompare(b.kind))).toEqual([
    { kind: 'callback', state: 'pending', attempts: 0, crashes: 0 },
    { kind: 'export', state: 'succeeded', attempts: 1, crashes: 0 },
    { kind: 'export', state: 'pending', attempts: 0, crashes: 0 },
    { kind: 'processing', state: 'pending', attempts: 0, crashes: 0 },
    { kind: 'run', state: 'pending', attempts: 0, crashes: 0 },
    { kind: 'transfer', state: 'pending', attempts: 0, crashes: 0 },
  ])

  receiver.open()
  source.release()
  page.open()
  rmSync(held)
  await wharf.startAgain()
  const offset = await offsetOf(wharf.address(), key, halfPath)
  expect(offset).toBeGreaterThan(0)
  await sendRest(wharf.address(), key, halfPath, half, offset)
  expect(await client.ended(slow.task_id)).toMatchObject({ status: 'succeeded', attempts: 1 })
  const done = (what: string, path: string, status: string, token: string) =>
    until(`${what} has ended`, async () => {
      const view = await json(ask('GET', path, { key: token }))
      return (view.status ?? view.state) === status && view
    })
  await done('the run', `/api/runs/${run_id}`, 'Done', ADMIN_TOKEN)
  await done('the transfer', transferPath, 'Success', key)
  expect(readFileSync(join(root, 'in', 'app.bin')).equals(content)).toBe(true)
  for (const id of [video, halfPath.split('/').at(-1)])
    await done('processing', `/api/tasks/${id}`, 'COMPLETED', key)
  await until('the callback was taken', async () => {
    const deliveries = await client.items<{ delivered: boolean }>(file.task_id, 'deliveries')
    return deliveries.length > 0 && deliveries.every(({ delivered }) => delivered)
  })
  expect(new Set(callbacks).size).toBe(1)
})

async function json(asked: Promise<Response>): Promise<Record<string, unknown>> {
  return (await (await asked).json()) as Record<string, unknown>
}

/** Of a file that is larger than the buffers between two programs. */
function bigExport(business: BusinessSystem) {
  const big = business.source({ total: 1_000, row: (n) => ({ id: n, text: 'x'.repeat(24_000) }) })
  return { source_url: big.url, type: 'csv', page_size: 100 }
}

const authorized = (key: string) => `Host: x\r\nAuthorization: Bearer ${key}\r\n`

async function stallDownload(address: string, key: string, taskId: string): Promise<void> {
  await stalled(address, `GET /api/exports/${taskId}/file HTTP/1.1\r\n${authorized(key)}\r\n`)
}

async function stallStream(address: string, key: string): Promise<void> {
  await stalled(address, `GET /api/events HTTP/1.1\r\n${authorized(key)}\r\n`)
}

/** A third of it is sent, and then nothing. */
async function stallUpload(address: string, key: string, bytes: Buffer): Promise<string> {
  const path = await beginUpload(address, key, bytes.length)
  const socket = await stalled(
    address,
    `PATCH ${path} HTTP/1.1\r\n${authorized(key)}Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n` +
      `Content-Type: application/offset+octet-stream\r\nContent-Length: ${bytes.length}\r\n\r\n`,
  )
  socket.write(bytes.subarray(0, bytes.length / 3))
  return path
}

const tus = (key: string) => ({ authorization: `Bearer ${key}`, 'tus-resumable': '1.0.0' })

async function beginUpload(address: string, key: string, size: number): Promise<string> {
  const headers = { ...tus(key), 'upload-length': String(size) }
  const answer = await fetch(`${address}/api/uploads`, { method: 'POST', headers })
  return new URL(answer.headers.get('location') ?? '', address).pathname
}

async function offsetOf(address: string, key: string, path: string): Promise<number> {
  const answer = await fetch(`${address}${path}`, { method: 'HEAD', headers: tus(key) })
  return Number(answer.headers.get('upload-offset'))
}

async function sendRest(address: string, key: string, path: string, bytes: Buffer, offset: number) {
  const headers = {
    ...tus(key),
    'upload-offset': String(offset),
    'content-type': 'application/offset+octet-stream',
  }
  const body = bytes.subarray(offset)
  const answer = await fetch(`${address}${path}`, { method: 'PATCH', headers, body })
  expect(answer.status).toBe(204)
}

async function upload(address: string, key: string, bytes: Buffer): Promise<string> {
  const path = await beginUpload(address, key, bytes.length)
  await sendRest(address, key, path, bytes, 0)
  return path.split('/').at(-1) ?? ''
}

/** A stream that never ends by itself. */
async function watchHealth(address: string) {
  const Health = makeClientConstructor(healthService as never, 'Health')
  const client = new Health(address, credentials.createInsecure())
  onTestFinished(() => client.close())
  const statuses: string[] = []
  const stream = client.Watch?.({ service: '' }) as unknown as ClientReadableStream<{ status: string }>
  stream.on('data', ({ status }) => statuses.push(status))
  stream.on('error', () => undefined)
  await until('its health is known', () => statuses.length > 0)
  return { statuses }
}
