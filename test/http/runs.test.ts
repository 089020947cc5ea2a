import { describe, expect, test } from 'vitest'
import { bodyOf, startFeed } from '../runs/feed-server.ts'
import { HeldFeeds } from '../runs/held-feeds.ts'
import { availableBackends } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

type Wharf = Awaited<ReturnType<typeof startHttp>>

describe.each(availableBackends())('runs over HTTP on %s', (name) => {
  test('an account is made, fetched and shown', async () => {
    const wharf = await startHttp(name)
    const feed = await startFeed([{ id: 'x', name: 'x.txt', body: bodyOf('x', 40) }])
    const params = { types: ['text'], limit: 5 }
    const put = await ask(wharf, 'PUT', '/api/accounts/%E5%95%86%E6%88%B7', { url: feed.url, params })
    expect([put.status, put.body]).toEqual([200, { handle: '商户', url: feed.url, params }])
    expect((await ask(wharf, 'PUT', '/api/accounts/ann', { url: feed.url })).status).toBe(200)
    const started = await ask(wharf, 'POST', '/api/runs', { handle: 'ann', kind: 'start' })
    expect(started.status).toBe(202)
    expect(started.body).toEqual({ run_id: expect.any(String), handle: 'ann', state: 'Running' })
    expect(started.headers.get('location')).toBe(`/api/runs/${started.body.run_id}`)
    const run = await until('the run is done', async () => {
      const { body } = await ask(wharf, 'GET', `/api/runs/${started.body.run_id}`)
      return body.state === 'Done' && body
    })
    const progress = {
      downloaded: 1,
      skipped: 0,
      filtered: 0,
      failed: 0,
      bytes: 40,
      rate: 0,
      page: 1,
      cursor: null,
    }
    expect(run).toMatchObject({
      handle: 'ann',
      kind: 'start',
      url: feed.url,
      params: {},
      progress,
      error: null,
    })
    const { body } = await ask(wharf, 'GET', '/api/state')
    expect(body).toMatchObject({ seq: expect.any(Number), max_concurrent: 3, queue: [] })
    expect(body.accounts).toMatchObject([
      {
        handle: 'ann',
        state: 'Done',
        locked: false,
        run_id: run.run_id,
        progress,
        updated_at: run.finished_at,
      },
      { handle: '商户', params, state: 'Idle', locked: false, run_id: null },
    ])
    expect((await ask(wharf, 'DELETE', '/api/accounts/ann')).status).toBe(204)
    expect((await ask(wharf, 'DELETE', '/api/accounts/ann')).body).toMatchObject({
      code: 'ACCOUNT_NOT_FOUND',
    })
  })

  test('an active account answers 409, in Chinese to those who ask for it', async () => {
    const { wharf, feeds, runId } = await oneActive(name)
    const body = { handle: 'ann', kind: 'continue' }
    const english = await ask(wharf, 'POST', '/api/runs', body)
    expect([english.status, english.body.code, english.body.run_id]).toEqual([409, 'RUN_ACTIVE', runId])
    for (const language of ['zh', 'zh-CN,zh;q=0.9,en;q=0.8', 'fr, zh;q=0.5']) {
      const chinese = await ask(wharf, 'POST', '/api/runs', body, { 'accept-language': language })
      expect([chinese.status, chinese.body.code, chinese.body.detail]).toEqual([
        409,
        'RUN_ACTIVE',
        '该账号任务已在队列/运行中',
      ])
    }
    const other = await ask(wharf, 'POST', '/api/runs', body, { 'accept-language': 'en, zh;q=0.5' })
    expect(other.body.detail).toBe(english.body.detail)
    const put = await ask(wharf, 'PUT', '/api/accounts/ann', { url: feeds.url('ann') })
    expect([put.status, put.body.code]).toEqual([409, 'ACCOUNT_LOCKED'])
    expect((await ask(wharf, 'DELETE', '/api/accounts/ann')).status).toBe(409)
  })

  test('a cancel stops a run, with or without a body', async () => {
    const { wharf, runId } = await oneActive(name)
    expect((await ask(wharf, 'POST', `/api/runs/${runId}/cancel`)).status).toBe(202)
    await until('it is cancelled', async () => {
      const { body } = await ask(wharf, 'GET', `/api/runs/${runId}`)
      return body.state === 'Cancelled'
    })
    const again = await ask(wharf, 'POST', `/api/runs/${runId}/cancel`, { files: 'delete' })
    expect([again.status, again.body.code]).toEqual([409, 'RUN_ENDED'])
    const wrong = await ask(wharf, 'POST', `/api/runs/${runId}/cancel`, { files: 'burn' })
    expect([wrong.status, wrong.body.code]).toEqual([400, 'REQUEST_INVALID'])
    expect((await ask(wharf, 'POST', '/api/runs/none/cancel')).body.code).toBe('RUN_NOT_FOUND')
  })

  test('the same idempotency key starts one run', async () => {
    const { wharf, feeds } = await oneActive(name)
    await ask(wharf, 'PUT', '/api/accounts/bob', { url: feeds.url('bob') })
    const post = () =>
      ask(wharf, 'POST', '/api/runs', { handle: 'bob', kind: 'start' }, { 'idempotency-key': 'once' })
    const [first, second] = [await post(), await post()]
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.body).toEqual(first.body)
  })

  test('only the admin token opens these doors, and only good values pass', async () => {
    const wharf = await startHttp(name)
    const { key } = await newProject(wharf)
    for (const [method, path] of [
      ['GET', '/api/state'],
      ['GET', '/api/runs/x'],
      ['DELETE', '/api/accounts/x'],
    ] as const) {
      expect((await wharf.ask(method, path)).status).toBe(401)
      expect((await wharf.ask(method, path, { key })).status).toBe(403)
    }
    for (const value of [0, -1, 1.5, 'many', null]) {
      const refused = await ask(wharf, 'PUT', '/api/settings/max_concurrent', { value })
      expect([refused.status, refused.body.code]).toEqual([400, 'REQUEST_INVALID'])
    }
    expect((await ask(wharf, 'PUT', '/api/settings/max_concurrent', { value: 7 })).body).toEqual({ value: 7 })
    expect((await ask(wharf, 'GET', '/api/state')).body.max_concurrent).toBe(7)
    const bad = [
      { url: 'ftp://x/' },
      { url: 'http://10.1.2.3/' },
      {},
      { url: 'http://127.0.0.1/', params: { limit: 0 } },
    ]
    const codes = []
    for (const body of bad) codes.push((await ask(wharf, 'PUT', '/api/accounts/ann', body)).body.code)
    expect(codes).toEqual(['URL_UNSUPPORTED', 'ADDRESS_REFUSED', 'REQUEST_INVALID', 'REQUEST_INVALID'])
    const outside = await ask(wharf, 'PUT', '/api/accounts/..%2F..%2Fetc', { url: 'http://127.0.0.1/' })
    expect(outside.body.code).toBe('HANDLE_INVALID')
  })

  test('events go on from the snapshot without gap or doubling, through a reconnect', async () => {
    const wharf = await startHttp(name)
    const feed = await startFeed(
      Array.from({ length: 30 }, (_, index) => ({ id: `${index}`, body: bodyOf(`${index}`, 50) })),
      { pageSize: 5 },
    )
    await ask(wharf, 'PUT', '/api/accounts/ann', { url: feed.url })
    const { seq } = (await ask(wharf, 'GET', '/api/state')).body
    const { run_id } = (await ask(wharf, 'POST', '/api/runs', { handle: 'ann', kind: 'start' })).body
    const first = await readEvents(wharf, seq, (events) => events.length >= 2)
    const rest = await readEvents(wharf, first.at(-1)?.seq ?? 0, (events) => events.some(isDone))
    const events = [...first, ...rest]
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => seq + 1 + index))
    expect(events.filter(({ type }) => type === 'run_state_changed').map(({ state }) => state)).toEqual([
      'Queued',
      'Running',
      'Done',
    ])
    expect(events.at(-1)).toMatchObject({ run_id, handle: 'ann', account_state: 'Done', locked: false })
    const last = events.findLast(({ progress }) => progress !== undefined)
    expect(last?.progress).toEqual((await ask(wharf, 'GET', `/api/runs/${run_id}`)).body.progress)
  })
})

interface SeenEvent {
  seq: number
  type: string
  state?: string
  progress?: unknown
}

const isDone = ({ state }: SeenEvent) => state === 'Done'

async function readEvents(
  wharf: Wharf,
  after: number,
  enough: (events: SeenEvent[]) => boolean,
): Promise<SeenEvent[]> {
  const stop = new AbortController()
  const answer = await fetch(`${wharf.address}/api/events?after=${after}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, accept: 'text/event-stream' },
    signal: stop.signal,
  })
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const events: SeenEvent[] = []
  let text = ''
  while (!enough(events)) {
    const { done, value } = await reader.read()
    if (done) throw new Error('the stream ended')
    const parts = (text + Buffer.from(value).toString()).split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const data = /^data: ?(.*)$/m.exec(part)?.[1]
      if (data) events.push(JSON.parse(data) as SeenEvent)
    }
  }
  stop.abort()
  return events
}

/** An account whose run goes on until the test ends it. */
async function oneActive(name: Parameters<typeof startHttp>[0]) {
  const wharf = await startHttp(name)
  const feeds = await HeldFeeds.open(['ann', 'bob'])
  await ask(wharf, 'PUT', '/api/accounts/ann', { url: feeds.url('ann') })
  const { body } = await ask(wharf, 'POST', '/api/runs', { handle: 'ann', kind: 'start' })
  return { wharf, feeds, runId: body.run_id as string }
}

interface Answered {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what these tests are about.
  body: any
}

async function ask(
  wharf: Wharf,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const answer = await wharf.ask(method, path, {
    key: ADMIN_TOKEN,
    headers,
    ...(body !== undefined && { body }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}
