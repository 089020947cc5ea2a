import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import type { Delivery } from '../../src/notify/delivery-log.ts'
import { problemOf, startExports } from '../support/export-client.ts'
import { FastClock } from '../support/fast-clock.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { until } from '../support/until.ts'

/** What an event says of telling. */
interface Told {
  type: string
  stage: string
  delivered?: boolean
}

const hurried = () => ({ clock: new FastClock(200), env: { WHARF_LEASE_SECONDS: '3600' } })

test('a callback carries the task as a GET shows it, signed by Standard Webhooks', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 3 })
  const receiver = business.receiver(200)
  const { task_id } = await client.start({
    source_url: source.url,
    callback: receiver.url,
    operator_id: 'anna',
  })
  const call = await receiver.call()
  const verified = new Webhook(client.project.secret).verify(
    call.text,
    call.headers as Record<string, string>,
  )
  expect(verified).toEqual(call.body)
  expect(call.headers['content-type']).toBe('application/json')
  expect(call.body.type).toBe('export.succeeded')
  expect(Date.parse(call.body.timestamp)).not.toBeNaN()
  const view = await until('it is done', async () => {
    const task = await client.task(task_id)
    return task.stage === 'done' && task
  })
  const { download_url, stage, report, ...rest } = call.body.data
  expect(stage).toBe('notifying')
  const told = (await client.items<Told>(task_id, 'events')).at(-1)
  expect(told).toMatchObject({ type: 'export.notified', status: 'succeeded', stage: 'done', delivered: true })
  expect(view).toMatchObject(rest)
  expect(await (await client.get(task_id, '/report')).json()).toEqual(report)
  expect((await fetch(String(download_url))).status).toBe(200)
  const forged = call.text.replace('anna', 'eve')
  expect(() =>
    new Webhook(client.project.secret).verify(forged, call.headers as Record<string, string>),
  ).toThrow()
})

test('after a rotation a callback is good under the new secret and the old one', async () => {
  const { wharf, business, client } = await startExports()
  const rotated = await wharf.ask('POST', `/api/projects/${client.project.id}/rotate`, {
    key: ADMIN_TOKEN,
    body: { what: 'webhook_secret' },
  })
  const { webhook_secret } = (await rotated.json()) as { webhook_secret: string }
  const receiver = business.receiver()
  await client.start({ source_url: business.source({ total: 1 }).url, callback: receiver.url })
  const call = await receiver.call()
  for (const secret of [client.project.secret, webhook_secret])
    new Webhook(secret).verify(call.text, call.headers as Record<string, string>)
})

test('a callback that is refused is told again, under the same id, and every try is in the log', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const receiver = business.receiver(500, 302, 404, 204)
  const { task_id } = await client.start({
    source_url: business.source({ total: 1 }).url,
    callback: receiver.url,
  })
  await receiver.call(3)
  const view = await until('it is done', async () => {
    const task = await client.task(task_id)
    return task.stage === 'done' && task
  })
  expect(view).toMatchObject({ status: 'succeeded', error: null })
  expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  const log = await client.items<Delivery>(task_id, 'deliveries')
  expect(log.map(({ attempt, status, delivered }) => [attempt, status, delivered])).toEqual([
    [1, 500, false],
    [2, 302, false],
    [3, 404, false],
    [4, 204, true],
  ])
  for (const { url, type, at } of log) {
    expect({ url, type }).toEqual({ url: receiver.url, type: 'export.succeeded' })
    expect(Date.parse(at)).not.toBeNaN()
  }
})

test('a callback that nobody answers fails nothing but itself', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const nobody = business.at('/cut', (request) => void request.socket.destroy())
  const { task_id } = await client.start({ source_url: business.source({ total: 1 }).url, callback: nobody })
  const log = await until('three tries are in the log', async () => {
    const items = await client.items<Delivery>(task_id, 'deliveries')
    return items.length >= 3 && items
  })
  for (const { status, error, delivered } of log)
    expect({ status, error, delivered }).toEqual({
      status: null,
      error: expect.any(String),
      delivered: false,
    })
  expect(await client.task(task_id)).toMatchObject({ status: 'succeeded', stage: 'notifying', error: null })
  expect((await client.get(task_id, '/file')).status).toBe(200)
})

test('a callback that is never taken is given up after its last try, and the export is done', async () => {
  const { business, client, engine } = await startExports('embedded', hurried())
  const receiver = business.receiver(500)
  const { task_id } = await client.start({
    source_url: business.source({ total: 1 }).url,
    callback: receiver.url,
  })
  await receiver.call()
  // As after two days: the next try is the last.
  const { db } = engine.ledger
  await until('it waits for its next try', () =>
    db
      .updateTable('jobs')
      .set({ attempts: 14 })
      .where('kind', '=', 'callback')
      .where('state', '=', 'pending')
      .returning('id')
      .executeTakeFirst(),
  )
  const view = await until('it is done', async () => {
    const task = await client.task(task_id)
    return task.stage === 'done' && task
  })
  expect(view).toMatchObject({ status: 'succeeded', error: null })
  expect(view.warnings).toEqual([expect.stringContaining('the callback could not be delivered')])
  expect((await client.get(task_id, '/file')).status).toBe(200)
  const log = await client.items<Delivery>(task_id, 'deliveries')
  expect(log.at(-1)).toMatchObject({ attempt: 15, status: 500, delivered: false })
  expect((await client.items<Told>(task_id, 'events')).at(-1)).toMatchObject({
    type: 'export.notified',
    stage: 'done',
    delivered: false,
  })
})

test('a callback into a forbidden net is refused at connect time, and not tried again', async () => {
  const { business, client, engine } = await startExports('embedded', hurried())
  const away = business.at('/away', (_, response) => {
    response.writeHead(307, { location: 'http://10.0.0.1/' }).end()
  })
  const { task_id } = await client.start({ source_url: business.source({ total: 1 }).url, callback: away })
  const log = await until('the refusal is in the log', async () => {
    const items = await client.items<Delivery>(task_id, 'deliveries')
    return items.length > 0 && items
  })
  expect(log[0]?.error).toMatch(/10\.0\.0\.1/)
  const job = await until('the callback is given up', () =>
    engine.ledger.db
      .selectFrom('jobs')
      .select(['state', 'attempts'])
      .where('kind', '=', 'callback')
      .where('state', '=', 'failed')
      .executeTakeFirst(),
  )
  expect(job.attempts).toBe(1)
})

test('the end of failed and cancelled exports is told too', async () => {
  const { business, client } = await startExports()
  const receiver = business.receiver()
  const refused = business.source({ instead: (_, response) => Boolean(response.writeHead(403).end()) })
  const failed = await client.start({ source_url: refused.url, callback: receiver.url })
  expect((await receiver.call(0)).body).toMatchObject({
    type: 'export.failed',
    data: { task_id: failed.task_id, status: 'failed', error: { code: 'SOURCE_STATUS' }, download_url: null },
  })
  const slow = business.source()
  slow.holdFrom(0)
  const cancelled = await client.start({ source_url: slow.url, callback: receiver.url })
  await slow.untilHeld()
  await client.ask('DELETE', `/api/exports/${cancelled.task_id}`, { key: client.project.key })
  expect((await receiver.call(1)).body).toMatchObject({
    type: 'export.cancelled',
    data: { task_id: cancelled.task_id, status: 'cancelled', error: null },
  })
})

test('an export that is retried is told of again, and is notifying until then', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const receiver = business.receiver(200, 500, 200)
  let broken = true
  const source = business.source({
    total: 1,
    instead: (_, response) => broken && Boolean(response.writeHead(403).end()),
  })
  const { task_id } = await client.start({ source_url: source.url, callback: receiver.url })
  await until('the failure is told', async () => (await client.task(task_id)).stage === 'done')
  broken = false
  const again = await client.ask('POST', `/api/exports/${task_id}/retry`, { key: client.project.key })
  expect(again.status).toBe(202)
  expect(await again.json()).toMatchObject({ task_id, status: 'pending', stage: 'queued', error: null })
  await receiver.call(1)
  const types = (await receiver.call(2)) && receiver.calls.map(({ body }) => body.type)
  expect(types).toEqual(['export.failed', 'export.succeeded', 'export.succeeded'])
  expect(receiver.calls[1]?.body.data).toMatchObject({ status: 'succeeded', stage: 'notifying' })
  await until('the success is told', async () => (await client.task(task_id)).stage === 'done')
  const twice = await problemOf(
    client.ask('POST', `/api/exports/${task_id}/retry`, { key: client.project.key }),
  )
  expect(twice).toMatchObject({ status: 409, code: 'TASK_FINISHED' })
})
