import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { problemOf, startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { fillDisk, smallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'

/** A connection on which the test writes what it likes; `text` is what came back, `closed` whether it ended. */
async function open(address: string, head: string) {
  const { hostname, port } = new URL(address)
  const seen = { text: '', closed: false }
  const socket: Socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('data', (chunk) => (seen.text += chunk)).on('close', () => (seen.closed = true))
  socket.on('error', () => undefined)
  socket.write(head.replaceAll('\n', '\r\n'))
  return { seen, socket }
}

test('a body that never comes is cut, with a key and without one', async () => {
  const wharf = await startHttp('embedded', { env: { WHARF_BODY_TIMEOUT_SECONDS: '1' } })
  const { key } = await newProject(wharf)
  const post = (more: string) =>
    `POST /api/exports HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 500\n${more}\n{"a`
  const strangers = await Promise.all(Array.from({ length: 20 }, () => open(wharf.address, post(''))))
  const known = await open(wharf.address, post(`Authorization: Bearer ${key}\n`))
  await until('all are gone', () => [...strangers, known].every(({ seen }) => seen.closed))
  expect(known.seen.text).toMatch(/^HTTP\/1.1 408 .*BODY_TOO_SLOW/s)
})

test('an upload may take long, but not drip', async () => {
  const wharf = await startHttp('embedded', {
    env: { WHARF_BODY_TIMEOUT_SECONDS: '1', WHARF_UPLOAD_IDLE_SECONDS: '2' },
  })
  const { key } = await newProject(wharf)
  const put = (name: string, length: number) =>
    `PUT /api/repository/${name} HTTP/1.1\nHost: x\nAuthorization: Bearer ${key}\nContent-Length: ${length}\n\n`
  const dripping = await open(wharf.address, `${put('drip', 1_000)}x`)
  const steady = await open(wharf.address, put('steady', 200_000))
  // Longer than the dripping one lives, and so longer than any other body may take.
  let sent = 0
  const pour = setInterval(() => {
    if (dripping.seen.closed || sent >= 190_000) return
    steady.socket.write('y'.repeat(1_000))
    sent += 1_000
  }, 20)
  onTestFinished(() => clearInterval(pour))
  await until('the dripping one is cut', () => dripping.seen.closed)
  clearInterval(pour)
  steady.socket.write('y'.repeat(200_000 - sent))
  await until('the steady one is answered', () => steady.seen.text.includes('HTTP/1.1 '))
  expect(dripping.seen.text).toContain('BODY_TOO_SLOW')
  expect(steady.seen.text).toMatch(/^HTTP\/1.1 200 /)
})

test('upgrades count towards the rate limit', async () => {
  const wharf = await startHttp('embedded', { env: { WHARF_RATE_LIMIT: '5/s,burst=5' } })
  const upgrade =
    'GET /ws HTTP/1.1\nHost: x\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n\n'
  const all = await Promise.all(Array.from({ length: 20 }, () => open(wharf.address, upgrade)))
  await until('all are answered', () => all.every(({ seen }) => seen.text !== ''))
  const statuses = all.map(({ seen }) => seen.text.slice(9, 12))
  expect(statuses.filter((status) => status === '429').length).toBeGreaterThan(0)
  expect(statuses.filter((status) => status === '401').length).toBeGreaterThan(0)
})

test('the streams of a project are bounded, those of another are not touched', async () => {
  const wharf = await startHttp('embedded', { env: { WHARF_QUOTA_STREAMS: '2' } })
  const [one, other] = [await newProject(wharf), await newProject(wharf)]
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const watch = (key: string, signal = stop.signal) =>
    fetch(`${wharf.address}/api/events`, { headers: { authorization: `Bearer ${key}` }, signal })
  const first = new AbortController()
  expect((await watch(one.key, first.signal)).status).toBe(200)
  expect((await watch(one.key)).status).toBe(200)
  expect(await problemOf(watch(one.key))).toMatchObject({
    status: 429,
    code: 'QUOTA_STREAMS',
    limit: 2,
    used: 2,
  })
  expect((await watch(other.key)).status).toBe(200)
  first.abort()
  await until('one is free again', async () => (await watch(one.key)).status === 200)
})

test('on a full disk nothing new is accepted; downloads go on, and accepted exports wait', async ({
  skip,
}) => {
  const folder = smallDisk(24)
  if (folder === undefined) return skip('no disk of its own can be mounted here')
  const { wharf, business, client } = await startExports('embedded', { env: { WHARF_SHARED_DIR: folder } })
  const body = { source_url: business.source().url }
  const { task_id } = await client.run(body)
  const hanging = business.source()
  hanging.holdFrom(0)
  const waiting = await client.start({ source_url: hanging.url })
  await hanging.untilHeld()
  const free = fillDisk(folder, 0)
  const ready = await until('it is noticed', async () => {
    const answer = await wharf.ask('GET', '/readyz')
    const said = (await answer.json()) as { writes: boolean }
    return said.writes === false && { status: answer.status, said }
  })
  expect(ready).toEqual({ status: 200, said: { status: 'ready', ledger: 'ok', writes: false } })
  expect(await problemOf(client.post(body))).toMatchObject({ status: 507, code: 'STORAGE_FULL' })
  const asked = await wharf.ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'x' } })
  expect(asked.status).toBe(507)
  expect(await client.lines(task_id)).toHaveLength(251)
  hanging.release()
  await until(
    'the accepted one waits',
    async () => (await client.task(waiting.task_id)).waiting_for?.what === 'disk',
  )
  free()
  expect(await client.ended(waiting.task_id)).toMatchObject({ status: 'succeeded', attempts: 1 })
  await until('requests are taken again', async () => (await client.post(body)).status === 202)
})

test.for(['a file of the repository', 'a piece of an upload'])(
  'a connection whose body found no room is closed or answers the next request: %s',
  async (what, { skip }) => {
    const folder = smallDisk(24)
    if (folder === undefined) return skip('no disk of its own can be mounted here')
    const wharf = await startHttp('embedded', { env: { WHARF_SHARED_DIR: folder } })
    const { key } = await newProject(wharf)
    const length = 8 * 1024 * 1024
    const tus = { 'tus-resumable': '1.0.0', 'upload-length': String(length) }
    const headers = { ...tus, 'upload-metadata': 'filename YS5tb3Y=' }
    const made = await wharf.ask('POST', '/api/uploads', { key, headers })
    const upload = new URL(made.headers.get('location') ?? '', wharf.address).pathname
    const start = what.startsWith('a file')
      ? 'PUT /api/repository/big HTTP/1.1'
      : `PATCH ${upload} HTTP/1.1\nTus-Resumable: 1.0.0\nUpload-Offset: 0\nContent-Type: application/offset+octet-stream`
    fillDisk(folder, 2 * 1024 * 1024)
    const { seen, socket } = await open(
      wharf.address,
      `${start}\nHost: x\nAuthorization: Bearer ${key}\nContent-Length: ${length}\n\n`,
    )
    socket.write(Buffer.alloc(length))
    await until(
      'the body is refused',
      () => seen.text,
      (text) => /^HTTP\/1.1 507 .*STORAGE_FULL/s.test(text),
    )
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('it goes on or says that it ends', () =>
      /connection: close/i.test(seen.text) ? seen.closed : seen.text.includes('{"status":"ok"}'),
    )
  },
)
