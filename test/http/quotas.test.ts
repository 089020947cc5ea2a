import { expect, test } from 'vitest'
import { openStore } from '../../src/app/ground/store.ts'
import { ExpirySweeper } from '../../src/exports/expiry.ts'
import { type Quota, Quotas } from '../../src/tenancy/index.ts'
import { NO_QUOTAS } from '../../src/tenancy/quotas.ts'
import { availableBackends } from '../support/backends.ts'
import { ExportClient, problemOf, startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../support/http.ts'
import { until } from '../support/until.ts'

interface Usage {
  resets_at: string
  quotas: { quota: string; limit: number | null; used: number | null }[]
}

async function setup(...asked: Parameters<typeof startExports>) {
  const bundle = await startExports(...asked)
  const { client, wharf } = bundle
  const path = `/api/projects/${client.project.id}`
  return {
    ...bundle,
    give: async (quotas: Record<string, number | null>) => {
      const answer = await wharf.ask('PUT', path, { key: ADMIN_TOKEN, body: { quotas } })
      expect(answer.status, await answer.clone().text()).toBe(200)
    },
    usage: async () => {
      const answer = await wharf.ask('GET', `${path}/usage`, { key: client.project.key })
      const { quotas, resets_at } = (await answer.json()) as Usage
      const used = Object.fromEntries(quotas.map(({ quota, used }) => [quota, used]))
      return { resets_at, ...(used as Record<Quota, number | null>) }
    },
    sync: (body: unknown) => wharf.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body }),
    preview: (body: unknown) => wharf.ask('POST', '/api/exports/preview', { key: client.project.key, body }),
    put: (file: string, body: string) =>
      wharf.ask('PUT', `/api/repository/${file}`, {
        key: client.project.key,
        body,
        headers: { 'content-type': 'application/octet-stream' },
      }),
  }
}

test.each(availableBackends())(
  'rows and bytes of exports, of mode=sync and of previews count; who has used up a day is told until when (%s)',
  async (backend) => {
    const { business, client, wharf, give, usage, sync, preview } = await setup(backend)
    const body = { source_url: business.source({ total: 250 }).url, page_size: 100 }
    expect(await usage()).toMatchObject({ rows_per_day: 0, bytes_per_day: 0, disk_bytes: 0 })
    const { file } = await client.run(body)
    expect(await usage()).toMatchObject({ rows_per_day: 250, disk_bytes: file?.size })
    expect((await sync(body)).status).toBe(200)
    expect((await preview(body)).status).toBe(200)
    const { resets_at, rows_per_day, bytes_per_day } = await usage()
    expect(rows_per_day).toBe(520)
    expect(bytes_per_day).toBeGreaterThan(2_000)
    await give({ rows_per_day: 520 })
    for (const refused of [client.post(body), sync(body), preview(body)]) {
      const answer = await refused
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await problemOf(answer)).toMatchObject({
        status: 429,
        code: 'QUOTA_ROWS',
        quota: 'rows_per_day',
        limit: 520,
        used: 520,
        free_at: resets_at,
      })
    }
    expect(Date.parse(resets_at)).toBeGreaterThan(Date.now())
    const other = new ExportClient(wharf.ask, await newProject(wharf))
    await other.run(body)
    await give({ rows_per_day: null, bytes_per_day: 100 })
    expect(await problemOf(client.post(body))).toMatchObject({ code: 'QUOTA_BYTES', status: 429 })
    await give({ bytes_per_day: null })
    await client.run(body)
  },
)

test('what fails counts too, and an export that finds too little left waits for the next day', async () => {
  const { business, client, give, usage } = await setup('embedded')
  const broken = business.source({
    total: 250,
    instead: ({ page, pageSize }, response) => {
      if (page !== 2 || pageSize === 1) return false
      response.writeHead(403).end()
      return true
    },
  })
  const { task_id } = await client.start({ source_url: broken.url, page_size: 100 })
  expect((await client.ended(task_id)).status).toBe('failed')
  await until('it is counted', async () => (await usage()).rows_per_day === 200)
  await give({ rows_per_day: 400 })
  const large = await client.start({ source_url: business.source({ total: 250 }).url })
  const view = await until('it waits', async () => {
    const seen = await client.task(large.task_id)
    return seen.waiting_for && seen
  })
  expect(view).toMatchObject({ status: 'pending', waiting_for: { what: 'quota', code: 'QUOTA_ROWS' } })
  const place = await (await client.get(large.task_id, '/position')).json()
  expect(place).toMatchObject({ position: 0, held_by: 'quota', quota: 'rows_per_day' })
  // Its next try is minutes away; a raised quota wakes it at once.
  expect(Date.parse(view.waiting_for?.next_try_at ?? '') - Date.now()).toBeGreaterThan(300_000)
  await give({ rows_per_day: 1_000 })
  expect(await client.ended(large.task_id)).toMatchObject({ status: 'succeeded', waiting_for: null })
})

test('what is larger than the whole quota of a day fails at once, with that quota', async () => {
  const { business, client, give, sync } = await setup('embedded')
  const body = { source_url: business.source({ total: 250 }).url, page_size: 100 }
  await client.run({ source_url: business.source({ total: 20 }).url })
  await give({ rows_per_day: 200 })
  const advice = 'ask for less, or let an admin raise the quota'
  const rows = `the source has 250 rows, more than the 200 that the project may read per day (rows_per_day); ${advice}`
  const view = await client.ended((await client.start(body)).task_id)
  expect(view).toMatchObject({ status: 'failed', error: { code: 'QUOTA_ROWS', message: rows }, attempts: 1 })
  expect(await problemOf(sync(body))).toMatchObject({
    code: 'QUOTA_ROWS',
    limit: 200,
    used: 20,
    detail: rows,
  })
  // 190 rows fit into a whole day, but not into the rest of this one.
  const tomorrow = await problemOf(sync({ source_url: business.source({ total: 190 }).url }))
  expect(tomorrow).toMatchObject({ code: 'QUOTA_ROWS', limit: 200, used: 20, free_at: expect.any(String) })
  await give({ rows_per_day: null, bytes_per_day: 2_000 })
  const bytes =
    /^the source has at least \d+ bytes, more than the 2000 that .* \(bytes_per_day\); ask for less/
  const large = await client.ended((await client.start({ ...body, fresh: true })).task_id)
  expect(large).toMatchObject({
    status: 'failed',
    error: { code: 'QUOTA_BYTES', message: expect.stringMatching(bytes) },
  })
})

test('mode=sync writes no more than it may, and only so many requests are at work', async () => {
  const env = { WHARF_SYNC_MAX_BYTES: '1048576', WHARF_QUOTA_REQUESTS_AT_ONCE: '2' }
  const { business, client, wharf, give, sync, preview } = await setup('embedded', { env })
  const wide = business.source({ total: 3_000, row: (id) => ({ id, text: 'x'.repeat(1_000) }) })
  expect(await problemOf(sync({ source_url: wide.url }))).toMatchObject({
    status: 413,
    code: 'SOURCE_TOO_LARGE',
  })
  // Sheets share the limit.
  const small = business.source({ total: 700, row: (id) => ({ id, text: 'x'.repeat(1_000) }) })
  const sheets = ['a', 'b'].map((name) => ({ name, source_url: small.url }))
  expect((await sync({ source_url: small.url })).status).toBe(200)
  expect(await problemOf(sync({ type: 'excel', sheets }))).toMatchObject({ code: 'SOURCE_TOO_LARGE' })

  const hanging = business.source()
  hanging.holdFrom(0)
  const held = [sync({ source_url: hanging.url }), preview({ source_url: hanging.url })]
  await until('both are at work', () => hanging.pages.length === 2)
  const refused = await preview({ source_url: hanging.url })
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'QUOTA_REQUESTS', limit: 2, used: 2 })
  const other = await newProject(wharf)
  const body = { source_url: business.source().url }
  const asked = await wharf.ask('POST', '/api/exports?mode=sync', { key: other.key, body })
  expect(asked.status).toBe(200)
  await give({ requests_at_once: 3 })
  expect((await preview(body)).status).toBe(200)
  hanging.release()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])
  expect((await sync(body)).status).toBe(200)
  expect((await client.run(body)).status).toBe('succeeded')
})

test.each(availableBackends())(
  'files count until they are gone, and a full project gets 507 (%s)',
  async (backend) => {
    const { business, client, ledger, engine, config, give, usage, put } = await setup(backend)
    const body = { source_url: business.source({ total: 50 }).url }
    const { file } = await client.run(body)
    const size = file?.size ?? 0
    expect((await put('a', 'x'.repeat(100))).status).toBe(200)
    expect((await put('a', 'x'.repeat(100))).status).toBe(200)
    expect((await put('b', 'y'.repeat(50))).status).toBe(200)
    expect(await usage()).toMatchObject({ disk_bytes: size + 150 })
    await give({ disk_bytes: size + 200 })
    expect(await problemOf(put('c', 'z'.repeat(60)))).toMatchObject({ status: 507, code: 'QUOTA_DISK' })
    expect((await put('c', 'z'.repeat(50))).status).toBe(200)
    for (const refused of [put('d', 'z'), client.post(body)])
      expect(await problemOf(refused)).toMatchObject({
        status: 507,
        code: 'QUOTA_DISK',
        quota: 'disk_bytes',
        limit: size + 200,
        free_at: null,
      })
    await ledger.db.updateTable('export_files').set({ expires_at: 0 }).execute()
    const quotas = new Quotas({ ledger, clock: engine.clock }, NO_QUOTAS)
    const store = await openStore(config, engine.clock)
    expect(await new ExpirySweeper({ ledger, store, quotas }).runOnce(new AbortController().signal)).toEqual({
      swept: 1,
    })
    await store.close()
    expect(await usage()).toMatchObject({ disk_bytes: 200 })
    await until('there is room again', async () => (await put('d', 'z')).status === 200)
  },
)

test.each(availableBackends())(
  'an admin can give one project fewer exports at once (%s)',
  async (backend) => {
    const { business, client, give, usage } = await setup(backend)
    await give({ exports_at_once: 1 })
    const source = business.source()
    source.holdFrom(0)
    const tasks = [
      await client.start({ source_url: `${source.url}?n=1` }),
      await client.start({ source_url: `${source.url}?n=2` }),
    ]
    await source.untilHeld()
    expect(await client.task(tasks[1]?.task_id ?? '')).toMatchObject({ status: 'pending' })
    const place = await (await client.get(tasks[1]?.task_id ?? '', '/position')).json()
    expect(place).toMatchObject({ held_by: 'quota', quota: 'exports_at_once' })
    expect(await usage()).toMatchObject({ exports_at_once: 1 })
    await give({ exports_at_once: null })
    await until('both run', async () => (await client.task(tasks[1]?.task_id ?? '')).status === 'processing')
    source.release()
    for (const { task_id } of tasks) expect((await client.ended(task_id)).status).toBe('succeeded')
  },
)
