import { expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { startExports } from '../../support/export-client.ts'
import { newProject } from '../../support/http.ts'

test.each(availableBackends())(
  'equal requests share one fetch, each caller keeps its own task, callback and events (%s)',
  async (backend) => {
    const { business, client } = await startExports(backend)
    const source = business.source({ total: 250 })
    const [anna, ben] = [business.receiver(), business.receiver()]
    source.holdFrom(0)
    const body = { source_url: source.url, page_size: 100 }
    const first = await client.start({ ...body, operator_id: 'anna', callback: anna.url })
    await source.untilHeld()
    const second = await client.start({ ...body, operator_id: 'ben', callback: ben.url })
    const third = await client.start(body)
    expect(new Set([first.task_id, second.task_id, third.task_id]).size).toBe(3)
    source.release()
    for (const { task_id } of [first, second, third]) {
      expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded', task_id, file: { rows: 250 } })
      const types = (await client.items<{ type: string }>(task_id, 'events')).map(({ type }) => type)
      expect(types[0]).toBe('export.pending')
      expect(types.filter((type) => type === 'export.succeeded')).toHaveLength(1)
    }
    expect(source.probes).toBe(1)
    expect(source.pages).toEqual([0, 1, 2])
    const told = [await anna.call(), await ben.call()]
    expect(told.map(({ body }) => [body.type, body.data.task_id, body.data.operator_id])).toEqual([
      ['export.succeeded', first.task_id, 'anna'],
      ['export.succeeded', second.task_id, 'ben'],
    ])
    expect(anna.calls).toHaveLength(1)
    expect(ben.calls).toHaveLength(1)
  },
)

test('what differs in anything but operator and callback is fetched by itself', async () => {
  const { wharf, business, client } = await startExports('embedded', {
    env: { WHARF_EXPORT_CONCURRENCY: '20' },
  })
  const source = business.source({ total: 1 })
  source.holdFrom(0)
  const body = { source_url: source.url }
  const other = await newProject(wharf)
  const all = [
    await client.start(body),
    await client.start({ ...body, fresh: true }),
    await client.start({ ...body, page_size: 100 }),
    await client.start({ ...body, type: 'excel' }),
    await client.start({ ...body, file_name: 'x' }),
    await client.start({ ...body, title: 'x' }),
    await client.start({ ...body, template: { id: 'No' } }),
    await client.start({ ...body, source_headers: { 'x-user': 'anna' } }),
    await client.start({ ...body, timezone: 'Asia/Tokyo' }),
    await client.start({ ...body, source_url: `${source.url}?x=1` }),
    await client.start({ ...body, bom: false }),
  ]
  const theirs = await client.ask('POST', '/api/exports', { key: other.key, body })
  expect(theirs.status).toBe(202)
  await client.start({ ...body, operator_id: 'ben' })
  source.release()
  for (const { task_id } of all) expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded' })
  expect(source.probes).toBe(all.length + 1)
})

test('an ended export is not shared: the next request fetches anew', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 1 })
  await client.run({ source_url: source.url })
  await client.run({ source_url: source.url })
  expect(source.probes).toBe(2)
})

test('cancelling one of two tasks leaves the other its file, cancelling the last stops the fetch', async () => {
  const { business, client, engine } = await startExports()
  const source = business.source({ total: 250 })
  const [anna, ben] = [business.receiver(), business.receiver()]
  source.holdFrom(1)
  const body = { source_url: source.url, page_size: 100 }
  const first = await client.start({ ...body, callback: anna.url })
  const second = await client.start({ ...body, callback: ben.url })
  await source.untilHeld()
  const cancelled = await client.ask('DELETE', `/api/exports/${first.task_id}`, { key: client.project.key })
  expect(cancelled.status).toBe(202)
  expect(await cancelled.json()).toMatchObject({ status: 'cancelled', finished_at: expect.any(String) })
  expect((await anna.call()).body).toMatchObject({
    type: 'export.cancelled',
    data: { task_id: first.task_id, status: 'cancelled' },
  })
  expect((await client.get(first.task_id, '/file')).status).toBe(409)
  expect(
    (await client.ask('DELETE', `/api/exports/${first.task_id}`, { key: client.project.key })).status,
  ).toBe(409)
  source.release()
  expect(await client.ended(second.task_id)).toMatchObject({ status: 'succeeded' })
  expect((await ben.call()).body.type).toBe('export.succeeded')
  expect(await client.task(first.task_id)).toMatchObject({
    status: 'cancelled',
    file: null,
    download_url: null,
  })
  expect(anna.calls).toHaveLength(1)

  const slow = business.source({ total: 250 })
  slow.holdFrom(1)
  const last = await client.start({ source_url: slow.url, page_size: 100 })
  await slow.untilHeld()
  await client.ask('DELETE', `/api/exports/${last.task_id}`, { key: client.project.key })
  expect(await client.ended(last.task_id)).toMatchObject({ status: 'cancelled', error: null })
  expect(engine.worker.size).toBeLessThanOrEqual(1)
})
