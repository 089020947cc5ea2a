import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { Upload } from 'tus-js-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startWharf } from '../../src/app/serve.ts'
import { loadConfig } from '../../src/config.ts'
import { availableBackends, type BackendName, openBackend } from '../support/backends.ts'
import { startRedis } from '../support/redis-server.ts'
import { fillDisk, smallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ADMIN = 'admin-token-for-tests'

async function serve(name: BackendName = 'embedded', env: Record<string, string> = {}) {
  const backend = await openBackend(name)
  onTestFinished(() => backend.remove())
  const wharf = await start({ ...backend.env, ...env })
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  const made = await fetch(`${wharf.address}/api/projects`, { method: 'POST', headers, body: '{"name":"p"}' })
  const { api_key: key } = (await made.json()) as { api_key: string }
  const ask = (path: string, init: RequestInit & { key?: string } = {}) =>
    fetch(`${wharf.address}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${init.key ?? key}`, ...(init.headers as Record<string, string>) },
    })
  // Another instance has a data dir of its own, and the same folder for the files.
  const again = () => start({ ...backend.env, ...env, WHARF_DATA_DIR: temporaryFolder() })
  return { ...wharf, dataDir: backend.env.WHARF_DATA_DIR ?? '', key, ask, again }
}

/** An instance in this process, on free ports. */
async function start(env: Record<string, string>) {
  const wharf = await startWharf(
    loadConfig({
      ...{ WHARF_ADMIN_TOKEN: ADMIN, WHARF_LOG_LEVEL: 'silent', WHARF_PORT: '0', TASK_GRPC_PORT: '0' },
      ...{ PROCESSOR_COMMAND: 'cp {input} {output}', WHARF_DRAIN_SECONDS: '0' },
      ...env,
    }),
  )
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= wharf.stop())
  onTestFinished(stop)
  return { ...wharf, stop }
}

function upload(endpoint: string, key: string, bytes: Buffer, more: object = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const tus = new Upload(bytes, {
      endpoint,
      headers: { authorization: `Bearer ${key}` },
      metadata: { filename: '我的视频.mov' },
      retryDelays: [0, 10, 50, 100, 200, 500],
      onError: reject,
      onSuccess: () => resolve(new URL(tus.url ?? '').pathname.split('/').at(-1) ?? ''),
      ...more,
    })
    tus.start()
  })
}

function completed(ask: (path: string) => Promise<Response>, id: string) {
  return until(
    'the task has ended',
    async () => (await (await ask(`/api/tasks/${id}`)).json()) as Record<string, unknown>,
    ({ status }) => status === 'COMPLETED' || status === 'FAILED',
  )
}

/** Carries bytes between a client and the server, and cuts the line once after so many. */
async function cuttingProxy(
  target: string,
  afterBytes: number,
): Promise<{ address: string; cuts(): number }> {
  let cuts = 0
  const server = createServer((client) => {
    const { port, hostname } = new URL(target)
    const upstream = connect(Number(port), hostname)
    let seen = 0
    client.on('data', (chunk) => {
      seen += chunk.length
      if (cuts === 0 && seen > afterBytes) {
        cuts++
        client.destroy()
        upstream.destroy()
      } else upstream.write(chunk)
    })
    upstream.on('data', (chunk) => client.write(chunk))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy())
      one.on('error', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  return { address: `http://127.0.0.1:${port}`, cuts: () => cuts }
}

for (const name of availableBackends()) {
  test(`on ${name} an upload that is cut in the middle goes on, becomes a task, and its result comes back`, async () => {
    const { address, key, ask } = await serve(name)
    const proxy = await cuttingProxy(address, 900_000)
    const bytes = randomBytes(3_000_000)
    const id = await upload(`${proxy.address}/api/uploads`, key, bytes, { chunkSize: 1_500_000 })
    expect(proxy.cuts()).toBe(1)
    expect(await completed(ask, id)).toMatchObject({
      ...{ task_id: id, status: 'COMPLETED', file_name: '我的视频.mov', size: 3_000_000, progress: 1 },
      result_url: `/api/tasks/${id}/result`,
    })
    const result = await ask(`/api/tasks/${id}/result`)
    expect(Buffer.from(await result.arrayBuffer()).equals(bytes)).toBe(true)
    expect(result.headers.get('content-disposition')).toContain(
      `filename*=UTF-8''${encodeURIComponent('我的视频.mp4')}`,
    )
  })
}

test.runIf(availableBackends().includes('postgres + redis'))(
  'an upload that was begun at one instance is finished at another, and both know the task',
  async () => {
    const { address, key, ask, again } = await serve('postgres + redis')
    const other = await again()
    const headers = { 'tus-resumable': '1.0.0' }
    const begun = await ask('/api/uploads', { method: 'POST', headers: { ...headers, 'upload-length': '5' } })
    const path = begun.headers.get('location') ?? ''
    const piece = { ...headers, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    const authorization = `Bearer ${key}`
    const sent = await fetch(`${other.address}${path}`, {
      method: 'PATCH',
      headers: { ...piece, authorization },
      body: '12345',
    })
    expect([sent.status, sent.headers.get('task-id')]).toEqual([204, path.split('/').at(-1)])
    const id = path.split('/').at(-1) ?? ''
    await completed(ask, id)
    for (const instance of [address, other.address]) {
      const result = await fetch(`${instance}/api/tasks/${id}/result`, { headers: { authorization } })
      expect(await result.text()).toBe('12345')
    }
  },
)

test.runIf(availableBackends().includes('postgres + redis'))(
  'an upload whose last piece came while Redis hung becomes a task by itself, and answers speak the language of the caller',
  async () => {
    const redis = (await startRedis())!
    onTestFinished(() => redis.remove())
    const { ask, again, key, stop } = await serve('postgres + redis', { REDIS_URL: redis.url })
    const headers = { 'tus-resumable': '1.0.0' }
    const unknown = (language: string) =>
      ask('/api/tasks/none', { headers: { 'accept-language': language } }).then((answer) => answer.json())
    expect(await unknown('en')).toMatchObject({ code: 'TASK_NOT_FOUND', detail: 'there is no such task' })
    expect(await unknown('zh')).toMatchObject({ code: 'TASK_NOT_FOUND', detail: '任务ID不存在' })
    const begin = async () => {
      const made = await ask('/api/uploads', {
        method: 'POST',
        headers: { ...headers, 'upload-length': '5' },
      })
      return new URL(made.headers.get('location') ?? '', 'http://x').pathname
    }
    const send = async (path: string, language = 'en') => {
      const type = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }
      const more = { ...headers, ...type, 'accept-language': language }
      const answer = await ask(path, { method: 'PATCH', headers: more, body: 'abcde' })
      return { status: answer.status, ...((await answer.json()) as object) }
    }
    const [first, second] = [await begin(), await begin()]
    redis.hang()
    const away = { status: 503, code: 'TASK_STORE_UNAVAILABLE' }
    expect(await send(first)).toMatchObject({
      ...away,
      detail: 'the store of tasks cannot be reached; try again in a moment',
    })
    expect(await send(second, 'zh')).toMatchObject({ ...away, detail: '无法连接到状态存储服务，请稍后重试' })
    redis.goOn()
    for (const path of [first, second]) await completed(ask, path.split('/').at(-1) ?? '')
    // The same for an instance that finds such an upload when it starts.
    const third = await begin()
    redis.hang()
    // Asking twice gives the same upload also while nobody can look into Redis.
    const keyed = () =>
      ask('/api/uploads', {
        method: 'POST',
        headers: { ...headers, 'upload-length': '5', 'idempotency-key': 'one' },
      }).then((answer) => [answer.status, new URL(answer.headers.get('location') ?? '', 'http://x').pathname])
    const [status, place] = await keyed()
    expect([status, place]).toEqual([201, expect.stringMatching(/uploads\/[0-9a-f-]{36}$/)])
    expect(await keyed()).toEqual([201, place])
    await send(third)
    await stop()
    redis.goOn()
    const { address } = await again()
    const authorization = `Bearer ${key}`
    await completed(
      (path) => fetch(`${address}${path}`, { headers: { authorization } }),
      third.split('/').at(-1) ?? '',
    )
  },
)

describe('uploads and results', () => {
  const tus = { 'tus-resumable': '1.0.0' }

  test('a result can be had in ranges, and only once if it has not changed', async () => {
    const { address, key, ask } = await serve()
    const id = await upload(`${address}/api/uploads`, key, Buffer.from('0123456789'))
    await completed(ask, id)
    const path = `/api/tasks/${id}/result`
    const get = async (headers: Record<string, string>) => {
      const answer = await ask(path, { headers })
      return [answer.status, answer.headers.get('content-range'), await answer.text()]
    }
    expect(await get({ range: 'bytes=2-4' })).toEqual([206, 'bytes 2-4/10', '234'])
    expect(await get({ range: 'bytes=7-' })).toEqual([206, 'bytes 7-9/10', '789'])
    expect(await get({ range: 'bytes=-3' })).toEqual([206, 'bytes 7-9/10', '789'])
    expect(await get({ range: 'bytes=4-99' })).toEqual([206, 'bytes 4-9/10', '456789'])
    expect(await get({ range: 'lines=1-2' })).toEqual([200, null, '0123456789'])
    for (const range of ['bytes=10-', 'bytes=5-2', 'bytes=-0'])
      expect((await get({ range })).slice(0, 2), range).toEqual([416, 'bytes */10'])
    expect(await get({ range: 'bytes=0-1,4-5' })).toEqual([200, null, '0123456789'])
    expect(await get({ range: 'bytes=2-4', 'if-range': '"other"' })).toEqual([200, null, '0123456789'])
    const etag = (await ask(path, { method: 'HEAD' })).headers.get('etag') ?? ''
    expect((await get({ 'if-none-match': etag }))[0]).toBe(304)
    expect(await get({ range: 'bytes=0-0', 'if-range': etag })).toEqual([206, 'bytes 0-0/10', '0'])
  })

  test('whoever lost the answer to the last piece asks again and finds the upload complete', async () => {
    const { address, key, ask } = await serve()
    const id = await upload(`${address}/api/uploads`, key, Buffer.from('12345'))
    const head = await ask(`/api/uploads/${id}`, { method: 'HEAD', headers: tus })
    expect([head.status, head.headers.get('upload-offset'), head.headers.get('upload-length')]).toEqual([
      200,
      '5',
      '5',
    ])
    expect(head.headers.get('task-id')).toBe(id)
    const removed = await ask(`/api/uploads/${id}`, { method: 'DELETE', headers: tus })
    expect([removed.status, await removed.json()]).toEqual([
      404,
      expect.objectContaining({
        code: 'UPLOAD_NOT_FOUND',
        detail: expect.stringContaining(`delete task ${id}`),
      }),
    ])
  })

  test('HEAD beside the last piece is never told that the upload is gone, nor is another client that sends it', async () => {
    const { ask } = await serve()
    const bytes = randomBytes(200_000)
    const piece = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }
    for (let round = 0; round < 8; round++) {
      const begun = await ask('/api/uploads', {
        method: 'POST',
        headers: { ...tus, 'upload-length': '200000' },
      })
      const path = begun.headers.get('location') ?? ''
      const send = () => ask(path, { method: 'PATCH', headers: piece, body: bytes })
      const look = () => ask(path, { method: 'HEAD', headers: tus })
      const [one, other, ...heads] = await Promise.all([send(), send(), look(), look(), look()])
      expect([one.status, other.status].sort()).toEqual([
        204,
        expect.toSatisfy((status) => [204, 409, 423].includes(status)),
      ])
      for (const head of heads) expect([200, 423]).toContain(head.status)
      expect((await look()).headers.get('upload-offset')).toBe('200000')
    }
  })

  test('a task of one project does not exist for another, nor does its upload', async () => {
    const { address, key, ask } = await serve()
    const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
    const made = await fetch(`${address}/api/projects`, { method: 'POST', headers, body: '{"name":"q"}' })
    const { api_key: other } = (await made.json()) as { api_key: string }
    const id = await upload(`${address}/api/uploads`, key, Buffer.from('12345'))
    expect((await ask(`/api/tasks/${id}`, { key: other })).status).toBe(404)
    expect((await ask(`/api/tasks/${id}`, { key: ADMIN })).status).toBe(200)
    const begun = await ask('/api/uploads', { method: 'POST', headers: { ...tus, 'upload-length': '9' } })
    const location = begun.headers.get('location') ?? ''
    expect((await ask(location, { method: 'HEAD', headers: tus, key: other })).status).toBe(404)
    expect((await ask(location, { method: 'HEAD', headers: tus })).status).toBe(200)
    expect((await fetch(`${address}/api/uploads`, { method: 'POST', headers: tus })).status).toBe(401)
  })

  test('what is refused is refused with a problem document', async () => {
    const { ask, dataDir } = await serve('embedded', { TASK_UPLOAD_MAX_BYTES: '100' })
    const problem = async (path: string, init: RequestInit) => {
      const answer = await ask(path, init)
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      const body = (await answer.json()) as { code: string; status: number; instance: string }
      expect(body.status).toBe(answer.status)
      expect(body.instance).toBe(`urn:request:${answer.headers.get('x-request-id')}`)
      return [answer.status, body.code]
    }
    const post = (headers: Record<string, string>) => problem('/api/uploads', { method: 'POST', headers })
    expect(await post({ ...tus, 'upload-length': '101' })).toEqual([413, 'BODY_TOO_LARGE'])
    expect(await post({ 'upload-length': '10' })).toEqual([412, 'REQUEST_INVALID'])
    expect(await post({ ...tus })).toEqual([400, 'REQUEST_INVALID'])
    for (const name of ['a\0b', 'a\r\nb.mov', '\u001b[31m', 'x'.repeat(9_000)]) {
      const metadata = `filename ${Buffer.from(name).toString('base64')}`
      expect(await post({ ...tus, 'upload-length': '9', 'upload-metadata': metadata })).toEqual([
        400,
        'REQUEST_INVALID',
      ])
    }
    expect(await post({ ...tus, 'upload-length': '9', 'upload-concat': 'partial' })).toEqual([
      501,
      'REQUEST_INVALID',
    ])
    const piece = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    const patch = (path: string, offset = '0') =>
      problem(path, { method: 'PATCH', headers: { ...piece, 'upload-offset': offset }, body: 'x' })
    expect(await patch('/api/uploads/01a1e16d-a109-7000-9784-71150fbe9e80')).toEqual([
      404,
      'UPLOAD_NOT_FOUND',
    ])
    expect(await patch('/api/uploads/..%2Fx')).toEqual([404, 'UPLOAD_NOT_FOUND'])
    const begun = await ask('/api/uploads', { method: 'POST', headers: { ...tus, 'upload-length': '9' } })
    expect(await patch(begun.headers.get('location') ?? '', '5')).toEqual([409, 'UPLOAD_REFUSED'])
    expect(await problem('/api/tasks/nope', {})).toEqual([404, 'TASK_NOT_FOUND'])
    expect(readdirSync(join(dataDir, 'videos'))).toEqual(['.handoff'])
  })

  test('what the protocol refuses has its status and says what to do', async () => {
    const { ask } = await serve('embedded', { TASK_UPLOAD_MAX_BYTES: '100' })
    const refusal = async (path: string, init: RequestInit) => {
      const answer = await ask(path, init)
      const { code, status, detail } = (await answer.json()) as Record<string, unknown>
      expect(status).toBe(answer.status)
      return [status, code, detail, answer.headers.get('tus-version')]
    }
    const begin = { method: 'POST', headers: { ...tus, 'upload-length': '9' } }
    const path = (await ask('/api/uploads', begin)).headers.get('location') ?? ''
    const type = { 'content-type': 'application/offset+octet-stream' }
    const piece = (headers: Record<string, string>, body = 'abc') =>
      refusal(path, { method: 'PATCH', headers: { ...tus, ...type, 'upload-offset': '0', ...headers }, body })
    const version = expect.stringContaining('must be 1.0.0')
    const other = { 'tus-resumable': '2.0.0' }
    expect(await piece(other)).toEqual([412, 'REQUEST_INVALID', version, '1.0.0'])
    expect(await refusal('/api/uploads', { method: 'POST', headers: other })).toEqual([
      ...[412, 'REQUEST_INVALID', version, '1.0.0'],
    ])
    expect(await refusal('/api/uploads', { method: 'POST' })).toEqual([
      ...[412, 'REQUEST_INVALID', version, '1.0.0'],
    ])
    expect(await piece({ 'content-type': 'text/plain' })).toEqual([
      ...[415, 'MEDIA_TYPE_UNSUPPORTED', 'Content-Type must be application/offset+octet-stream', null],
    ])
    expect(await piece({ 'upload-offset': '5' })).toEqual([
      ...[409, 'UPLOAD_REFUSED', 'the upload is at byte 0: go on from there', null],
    ])
    expect(await piece({ 'upload-offset': 'x' })).toEqual([
      ...[400, 'REQUEST_INVALID', 'Upload-Offset must be a whole number of bytes, from 0 on', null],
    ])
    expect(await piece({}, 'more than nine')).toEqual([
      ...[413, 'BODY_TOO_LARGE', 'the upload has 9 bytes, and 0 are here: send the rest, no more', null],
    ])
    const post = (length: string) =>
      refusal('/api/uploads', { method: 'POST', headers: { ...tus, 'upload-length': length } })
    expect(await post('101')).toEqual([
      ...[413, 'BODY_TOO_LARGE', 'an upload may have at most 100 bytes here', null],
    ])
    expect(await post('-1')).toEqual([
      ...[400, 'REQUEST_INVALID', 'Upload-Length must be a whole number of bytes, from 0 on', null],
    ])
  })

  test('an upload onto a full disk is told so, and goes on when there is room', async () => {
    const folder = smallDisk(8)
    if (!folder) return console.warn('skipped: needs the right to mount a small tmpfs')
    const { ask } = await serve('embedded', {
      TEMP_STORAGE_PATH: join(folder, 'temp'),
      LOCAL_STORAGE_PATH: join(folder, 'videos'),
    })
    const bytes = randomBytes(2_000_000)
    const tus = { 'tus-resumable': '1.0.0' }
    const made = await ask('/api/uploads', {
      method: 'POST',
      headers: { ...tus, 'upload-length': String(bytes.length), 'upload-metadata': 'filename YS5tb3Y=' },
    })
    const path = new URL(made.headers.get('location') ?? '', 'http://x').pathname
    const makeRoom = fillDisk(folder, 500_000)
    const patch = (offset: number) =>
      ask(path, {
        method: 'PATCH',
        headers: {
          ...tus,
          'content-type': 'application/offset+octet-stream',
          'upload-offset': String(offset),
        },
        body: bytes.subarray(offset),
      })
    const refused = await patch(0)
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([507, 'STORAGE_FULL'])
    expect(refused.headers.get('retry-after')).toBe('30')
    makeRoom()
    const offset = Number((await ask(path, { method: 'HEAD', headers: tus })).headers.get('upload-offset'))
    expect((await patch(offset)).status).toBe(204)
  })

  test('the same Idempotency-Key gives the same upload', async () => {
    const { ask } = await serve()
    const begin = (length: string) =>
      ask('/api/uploads', {
        method: 'POST',
        headers: {
          ...tus,
          'upload-length': length,
          'idempotency-key': 'one',
          'content-type': 'application/offset+octet-stream',
        },
        body: 'abc',
      })
    const [first, second] = [await begin('9'), await begin('9')]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect([first, second].map(({ headers }) => headers.get('upload-offset'))).toEqual(['3', '3'])
    expect((await begin('10')).status).toBe(422)
  })

  test('a task that failed is tried again as a new one, and both can be deleted', async () => {
    const { address, key, ask, dataDir } = await serve('embedded', {
      PROCESSOR_COMMAND: `sh -c "echo looks; echo 'no such codec' >&2; exit 3" {input} {output}`,
      TASK_PROCESSOR_RETRIES: '0',
    })
    const json = async (path: string, init: RequestInit = {}) =>
      (await (await ask(path, init)).json()) as Record<string, unknown>
    const id = await upload(`${address}/api/uploads`, key, Buffer.from('12345'))
    expect(await completed(ask, id)).toMatchObject({ status: 'FAILED' })
    const { items } = (await json(`/api/tasks/${id}/log`)) as { items: { stream: string; line: string }[] }
    expect(items.map(({ stream, line }) => `${stream} ${line}`).sort()).toEqual([
      'stderr no such codec',
      'stdout looks',
    ])
    const history = (await json(`/api/tasks/${id}/events`)) as { items: { type: string }[] }
    expect(history.items.map(({ type }) => type)).toEqual([
      'processing.pending',
      'processing.processing',
      'processing.failed',
    ])

    const again = () =>
      ask(`/api/tasks/${id}/retry`, { method: 'POST', headers: { 'idempotency-key': 'once' } })
    const [first, second] = [await again(), await again()]
    expect([first.status, second.status]).toEqual([202, 202])
    const made = (await first.json()) as { task_id: string }
    expect(made).toMatchObject({ file_name: '我的视频.mov', size: 5 })
    expect((await second.json()) as object).toMatchObject({ task_id: made.task_id })
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    await completed(ask, made.task_id)

    const folders = () => readdirSync(join(dataDir, 'videos')).filter((name) => name.includes('-'))
    expect(folders().sort()).toEqual([id, made.task_id].sort())
    for (const task of [id, made.task_id])
      expect((await ask(`/api/tasks/${task}/record`, { method: 'DELETE' })).status).toBe(204)
    expect(folders()).toEqual([])
    expect((await ask(`/api/tasks/${id}`)).status).toBe(404)
    expect(((await json('/api/tasks')) as { items: unknown[] }).items).toEqual([])
  })

  test('only a task that has ended can be deleted, and only one that failed be tried again', async () => {
    const { address, key, ask } = await serve('embedded', {
      PROCESSOR_COMMAND: 'sh -c "sleep 60" {input} {output}',
    })
    const id = await upload(`${address}/api/uploads`, key, Buffer.from('12345'))
    const codeOf = async (path: string, method: string) =>
      ((await (await ask(path, { method })).json()) as { code: string }).code
    expect(await codeOf(`/api/tasks/${id}/record`, 'DELETE')).toBe('TASK_NOT_FINISHED')
    expect(await codeOf(`/api/tasks/${id}/retry`, 'POST')).toBe('NOTHING_FAILED')
    for (const odd of ['..', '%2e%2e%2f%2e%2e', '..%2Fvideos'])
      expect((await ask(`/api/tasks/${odd}/log`)).status).toBe(404)
  })

  test('a task that has not ended has no result yet, and can be cancelled once', async () => {
    const { address, key, ask } = await serve('embedded', {
      PROCESSOR_COMMAND: 'sh -c "sleep 60" {input} {output}',
    })
    const id = await upload(`${address}/api/uploads`, key, Buffer.from('12345'))
    expect((await ask(`/api/tasks/${id}/result`)).status).toBe(409)
    expect((await ask(`/api/tasks/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(`/api/tasks/${id}`, { method: 'DELETE' })).status).toBe(409)
    const after = await ask(`/api/tasks/${id}/result`)
    expect([after.status, ((await after.json()) as { code: string }).code]).toEqual([
      409,
      'TASK_WITHOUT_RESULT',
    ])
  })
})
