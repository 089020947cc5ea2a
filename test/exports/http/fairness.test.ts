import { expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { ExportClient, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { newProject } from '../../support/http.ts'
import { startSource } from '../../support/source-server.ts'
import { until } from '../../support/until.ts'

test.each(availableBackends())(
  'a project whose sources all hang does not hold up the first export of another (%s)',
  async (backend) => {
    const { wharf, business, client } = await startExports(backend)
    const hanging = business.source()
    hanging.holdFrom(0)
    const body = { source_url: hanging.url, fresh: true }
    const held = await Promise.all(Array.from({ length: 4 }, () => client.start(body)))
    await until('all places are taken', async () => {
      const views = await Promise.all(held.map(({ task_id }) => client.task(task_id)))
      return views.filter(({ status }) => status === 'processing').length === 4
    })
    const other = new ExportClient(wharf.ask, await newProject(wharf))
    await other.run({ source_url: business.source().url })
    const views = await Promise.all(held.map(({ task_id }) => client.task(task_id)))
    expect(views.filter(({ status }) => status === 'processing')).toHaveLength(4)
    hanging.release()
    for (const { task_id } of held) expect((await client.ended(task_id)).status).toBe('succeeded')
  },
)

test.each(availableBackends())(
  'interactive exports go before scheduled ones of any project, and a scheduled one that has waited long is like them (%s)',
  async (backend) => {
    const clock = new FastClock(1)
    const options = { env: { WHARF_EXPORT_CONCURRENCY: '1' }, ...(backend === 'embedded' && { clock }) }
    const { wharf, business, client } = await startExports(backend, options)
    const other = new ExportClient(wharf.ask, await newProject(wharf))
    const hanging = business.source()
    hanging.holdFrom(0)
    // With its reserve the lane has two places.
    for (const one of [client, other]) await one.start({ source_url: hanging.url })
    await until('both places are taken', () => hanging.pages.length === 2)
    const source_url = business.source().url
    const place = async (one: ExportClient, { task_id }: { task_id: string }) =>
      ((await (await one.get(task_id, '/position')).json()) as { position: number }).position
    const scheduled = await other.start({ source_url, priority: 'scheduled', fresh: true })
    const first = await client.start({ source_url, fresh: true })
    const second = await client.start({ source_url, fresh: true })
    expect([await place(client, first), await place(client, second), await place(other, scheduled)]).toEqual([
      1, 2, 3,
    ])
    if (backend === 'embedded') {
      clock.advance(11 * 60_000)
      expect(await place(other, scheduled)).toBeLessThan(3)
    }
    hanging.release()
    for (const task of [first, second]) await client.ended(task.task_id)
    expect((await other.ended(scheduled.task_id)).status).toBe('succeeded')
  },
)

test('exports whose sources send nothing give their places away, say so, and lose nothing', async () => {
  const { wharf, business, client } = await startExports('embedded', {
    clock: new FastClock(100),
    env: { WHARF_EXPORT_CONCURRENCY: '1', WHARF_LEASE_SECONDS: '3600' },
  })
  const hanging = business.source()
  hanging.holdFrom(1)
  const body = { source_url: hanging.url, page_size: 100 }
  const second = new ExportClient(wharf.ask, await newProject(wharf))
  const stalled = [
    { client, task_id: (await client.start(body)).task_id },
    { client: second, task_id: (await second.start(body)).task_id },
  ]
  // Before the third comes: from then on, a place is given away whatever its export has by then.
  for (const one of stalled)
    await until(
      'it has its first page',
      async () => (await one.client.task(one.task_id)).progress.fetched === 100,
    )
  // Both places are held by what hangs; the third project gets one all the same.
  const third = new ExportClient(wharf.ask, await newProject(wharf))
  await third.run({ source_url: business.source().url })
  const events = await Promise.all(
    stalled.map((one) => one.client.items<{ waiting_for?: { code: string } }>(one.task_id, 'events')),
  )
  expect(events.flat().map(({ waiting_for }) => waiting_for?.code)).toContain('SOURCE_STALLED')
  hanging.release()
  for (const one of stalled) {
    const view = await one.client.ended(one.task_id)
    expect(view).toMatchObject({ status: 'succeeded', attempts: 1, file: { rows: 250 }, waiting_for: null })
  }
  // What was there before was not asked for again.
  expect(hanging.pages.filter((page) => page === 0)).toHaveLength(2)
})

test('a source that hangs does not hold up the other exports of its own project', async () => {
  const { business, client } = await startExports('embedded', {
    clock: new FastClock(100),
    env: { WHARF_EXPORT_CONCURRENCY: '2', WHARF_LEASE_SECONDS: '3600' },
  })
  const hanging = business.source()
  hanging.holdFrom(0)
  for (let index = 0; index < 2; index++) await client.start({ source_url: hanging.url, fresh: true })
  await until('both places are taken', () => hanging.pages.length >= 2)
  await client.run({ source_url: business.source().url })
  hanging.release()
})

test('exports whose sources refuse every connection do not hold up the others of their project', async () => {
  const { business, client } = await startExports('embedded', {
    clock: new FastClock(100),
    env: { WHARF_EXPORT_CONCURRENCY: '2', WHARF_LEASE_SECONDS: '3600' },
  })
  const body = { source_url: 'http://127.0.0.1:1/dead', fresh: true }
  const dead = await Promise.all(Array.from({ length: 6 }, () => client.start(body)))
  const healthy = await client.start({ source_url: business.source().url })
  expect((await client.ended(healthy.task_id)).status).toBe('succeeded')
  // None of them has used up its attempts: the place came from one that was tried, not from one that was given up.
  const views = await Promise.all(dead.map(({ task_id }) => client.task(task_id)))
  expect(views.filter(({ status }) => status === 'failed')).toEqual([])
})

test('a source that never sends anything fails in the end, however often its export gave its place away', async () => {
  const { wharf, business, client } = await startExports('embedded', {
    clock: new FastClock(400),
    env: { WHARF_EXPORT_CONCURRENCY: '1', WHARF_LEASE_SECONDS: '3600' },
  })
  const hanging = business.source()
  hanging.holdFrom(0)
  const body = { source_url: hanging.url }
  const clients = [
    client,
    ...[await newProject(wharf), await newProject(wharf)].map(
      (project) => new ExportClient(wharf.ask, project),
    ),
  ]
  // There is always somebody who waits.
  const tasks = await Promise.all(clients.map((one) => one.start(body)))
  for (const [index, one] of clients.entries()) {
    const view = await one.ended(tasks[index]?.task_id ?? '')
    expect(view).toMatchObject({ status: 'failed', attempts: 3 })
    expect(['SOURCE_TOO_SLOW', 'SOURCE_UNREACHABLE']).toContain(view.error?.code)
  }
})

test('a source that answers with an error each time is never said to have sent nothing', async () => {
  const { wharf, client } = await startExports('embedded', {
    clock: new FastClock(400),
    env: { WHARF_EXPORT_CONCURRENCY: '1', WHARF_LEASE_SECONDS: '3600' },
  })
  const source_url = await startSource(({ response }) => void response.writeHead(500).end())
  const projects = [await newProject(wharf), await newProject(wharf)]
  const clients = [client, ...projects.map((project) => new ExportClient(wharf.ask, project))]
  const tasks = await Promise.all(clients.map((one) => one.start({ source_url })))
  for (const [index, one] of clients.entries()) {
    const { task_id = '' } = tasks[index] ?? {}
    expect(await one.ended(task_id)).toMatchObject({ status: 'failed', error: { code: 'SOURCE_STATUS' } })
    const events = await one.items<{ waiting_for?: { code: string; message: string } }>(task_id, 'events')
    const waits = events.flatMap(({ waiting_for }) => waiting_for ?? [])
    for (const { code, message } of waits) {
      expect(['SOURCE_STATUS', 'SOURCE_STALLED']).toContain(code)
      expect(message).toContain('500')
    }
  }
})
