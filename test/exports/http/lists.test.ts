import { describe, expect, test } from 'vitest'
import type { ExportView } from '../../../src/exports/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../../support/http.ts'
import { until } from '../../support/until.ts'

interface Page {
  items: ExportView[]
  next_cursor: string | null
  total?: { count: number; exact: boolean }
}

interface Bulk {
  done: number
  skipped: number
  items: { task_id: string; done: boolean; error: { code: string } | null }[]
  next_cursor: string | null
}

describe.each(availableBackends())('many exports on %s', (backend) => {
  async function setup() {
    const wharf = await startExports(backend)
    const { business, client } = wharf
    const { id, key } = client.project
    const list = `/api/projects/${id}/exports`
    const read = async <T>(path: string, asKey = key): Promise<T> =>
      (await client.ask('GET', path, { key: asKey })).json() as Promise<T>
    /** Over all pages, so that the cursors are followed. */
    const names = async (query: string, path = list, asKey = key) => {
      const found: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: Page = await read(`${path}?limit=2&${query}${cursor && `&cursor=${cursor}`}`, asKey)
        found.push(...page.items.map(({ file_name }) => file_name))
        cursor = page.next_cursor
      }
      return found
    }
    const bulk = async (body: object, asKey = key) => {
      const answer = await client.ask('POST', '/api/exports/bulk', { key: asKey, body })
      return { status: answer.status, ...((await answer.json()) as Bulk) }
    }
    return { ...wharf, business, client, list, read, names, bulk }
  }

  test('a list is sorted, filtered and counted as asked, page by page', async () => {
    const { business, client, list, read, names } = await setup()
    const rows = (total: number) => business.source({ total }).url
    const made = [
      { file_name: 'b', source_url: rows(1), operator_id: 'anna' },
      { file_name: 'C', source_url: rows(300), operator_id: 'ben', type: 'excel' },
      { file_name: 'a', source_url: rows(40), operator_id: 'annabel' },
    ]
    for (const body of made) await client.run({ page_size: 100, ...body })
    const held = business.source({ total: 1 })
    held.holdFrom(0)
    const open = await client.start({ file_name: 'd', source_url: held.url })
    await until('it runs', async () => (await client.task(open.task_id)).status === 'processing')

    expect(await names('')).toEqual(['d', 'a', 'C', 'b'])
    expect(await names('sort=created')).toEqual(['b', 'C', 'a', 'd'])
    expect(await names('sort=name')).toEqual(['a', 'b', 'C', 'd'])
    expect(await names('sort=-name')).toEqual(['d', 'C', 'b', 'a'])
    expect(await names('sort=finished')).toEqual(['b', 'C', 'a', 'd'])
    expect((await names('sort=size')).slice(0, 3)).toEqual(['d', 'b', 'a'])
    expect(await names('type=excel')).toEqual(['C'])
    expect(await names('status=processing')).toEqual(['d'])
    expect(await names('status=pending')).toEqual([])
    expect(await names('status=succeeded&type=csv')).toEqual(['a', 'b'])
    const { items } = await read<Page>(list)
    expect(await names(`from=${items[2]?.created_at}&to=${items[0]?.created_at}`)).toEqual(['a', 'C'])

    expect((await read<Page>(`${list}?limit=1&total=true`)).total).toEqual({ count: 4, exact: true })
    expect((await read<Page>(`${list}?status=failed&total=true`)).total).toEqual({ count: 0, exact: true })
    expect(await read(`/api/projects/${client.project.id}/operators`)).toEqual({
      items: ['anna', 'annabel', 'ben'],
    })
    expect(await read(`/api/projects/${client.project.id}/operators?prefix=anna`)).toEqual({
      items: ['anna', 'annabel'],
    })

    const byName = await read<Page>(`${list}?limit=1&sort=name`)
    const mixed = await client.ask('GET', `${list}?sort=size&cursor=${byName.next_cursor}`, {
      key: client.project.key,
    })
    expect(mixed.status).toBe(400)

    const other = await newProject(client)
    expect(await names('', '/api/exports')).toEqual(['d', 'a', 'C', 'b'])
    expect(await names('', '/api/exports', other.key)).toEqual([])
    expect(await names('', '/api/exports', ADMIN_TOKEN)).toEqual(['d', 'a', 'C', 'b'])
    expect(await names(`project_id=${other.id}`, '/api/exports', ADMIN_TOKEN)).toEqual([])
    const foreign = await client.ask('GET', `/api/exports?project_id=${client.project.id}`, {
      key: other.key,
    })
    expect(foreign.status).toBe(404)
    held.release()
  })

  test('what ended since a time is listed and counted by its end, over all projects too', async () => {
    const { business, client, list, read, names, bulk } = await setup()
    const { key } = client.project
    const held = business.source({ total: 1 })
    held.holdFrom(0)
    const late = await client.start({ file_name: 'late', source_url: held.url })
    await client.run({ file_name: 'early', source_url: business.source({ total: 1 }).url })
    held.release()
    await client.ended(late.task_id)
    const { finished_at } = await client.task(late.task_id)
    const since = `ended_from=${finished_at}`
    expect(await names(since)).toEqual(['late'])
    expect(await names('ended_from=2026-01-01T00:00:00Z')).toEqual(['late', 'early'])
    expect(await names('ended_from=2026-01-01T00:00:00Z&sort=finished')).toEqual(['early', 'late'])
    expect(await names(`status=succeeded&${since}`, '/api/exports', ADMIN_TOKEN)).toEqual(['late'])
    expect((await read<Page>(`${list}?total=true&${since}`)).total).toEqual({ count: 1, exact: true })
    for (const query of [since, `${since}&status=pending`, `${since}&status=failed&sort=-created`])
      expect((await client.ask('GET', `/api/exports?${query}`, { key: ADMIN_TOKEN })).status).toBe(400)
    expect((await client.ask('GET', `${list}?${since}&sort=name`, { key })).status).toBe(400)
    const filter = { ended_from: finished_at, status: 'succeeded' }
    expect(await bulk({ action: 'delete_file', filter })).toMatchObject({ done: 1, next_cursor: null })
  })

  test('many are cancelled, retried and cleared at once, each once, and strangers see nothing', async () => {
    const { business, client, list, read, names, bulk } = await setup()
    const held = business.source({ total: 1 })
    held.holdFrom(0)
    const body = { source_url: held.url, fresh: true }
    const ids: string[] = []
    for (const file_name of ['first', 'second', 'third'])
      ids.push((await client.start({ ...body, file_name })).task_id)
    const stranger = await newProject(client)
    const refused = await bulk({ action: 'cancel', ids }, stranger.key)
    expect(refused).toMatchObject({ status: 200, done: 0, skipped: 3 })
    expect(new Set(refused.items.map(({ error }) => error?.code))).toEqual(new Set(['TASK_NOT_FOUND']))
    expect(await bulk({ action: 'cancel', filter: {} }, stranger.key)).toMatchObject({ done: 0, items: [] })
    const look = { scopes: ['read'], name: 'looks on' }
    const made = await client.ask('POST', `/api/projects/${client.project.id}/keys`, {
      key: ADMIN_TOKEN,
      body: look,
    })
    const { api_key } = (await made.json()) as { api_key: string }
    expect((await bulk({ action: 'cancel', ids }, api_key)).status).toBe(403)
    expect((await bulk({ action: 'cancel' })).status).toBe(400)
    expect((await bulk({ action: 'cancel', ids, filter: {} })).status).toBe(400)

    expect(await bulk({ action: 'cancel', ids: [ids[0], 'unknown'] })).toMatchObject({
      done: 1,
      skipped: 1,
      items: [
        { task_id: ids[0], done: true, error: null },
        { task_id: 'unknown', done: false, error: { code: 'TASK_NOT_FOUND' } },
      ],
    })
    await until('it is cancelled', async () => (await names('status=cancelled')).length === 1)
    expect(await bulk({ action: 'cancel', ids: [ids[0]] })).toMatchObject({ done: 0, skipped: 1 })
    expect(await bulk({ action: 'cancel', filter: {} })).toMatchObject({ done: 2, next_cursor: null })
    await until('all are cancelled', async () => (await names('status=cancelled')).length === 3)

    held.release()
    expect(await bulk({ action: 'retry', filter: { search: 'second' } })).toMatchObject({ done: 1 })
    expect(await bulk({ action: 'retry', ids })).toMatchObject({ done: 2, skipped: 1 })
    await until('all have succeeded', async () => (await names('status=succeeded')).length === 3)
    expect(await bulk({ action: 'delete_file', filter: { status: 'succeeded' } })).toMatchObject({ done: 3 })
    const again = await bulk({ action: 'delete_file', ids })
    expect(again).toMatchObject({
      done: 0,
      skipped: 3,
      items: ids.map(() => ({ error: { code: 'EXPORT_EXPIRED' } })),
    })
    const { items } = await read<Page>(list)
    expect(items.map(({ download_url }) => download_url)).toEqual([null, null, null])
    const audit = await read<{ items: { target: string; detail: object }[] }>(
      '/api/audit?action=export.bulk',
      ADMIN_TOKEN,
    )
    expect(audit.items).toHaveLength(5)
    expect(audit.items[0]).toMatchObject({ target: ids[0], detail: { action: 'cancel' } })
  })

  test('an export that ended without a file is told from one that has none yet', async () => {
    const { business, client, bulk } = await setup()
    const held = business.source({ total: 1 })
    held.holdFrom(0)
    const [running, stopped] = [
      await client.start({ source_url: held.url, fresh: true }),
      await client.start({ source_url: held.url, fresh: true }),
    ]
    await bulk({ action: 'cancel', ids: [stopped.task_id] })
    const refused = business.source({ instead: (_, response) => Boolean(response.writeHead(403).end()) })
    const failed = await client.ended((await client.start({ source_url: refused.url })).task_id)
    const ids = [running.task_id, stopped.task_id, failed.task_id]
    const { items } = await bulk({ action: 'delete_file', ids })
    expect(items.map(({ error }) => error?.code)).toEqual([
      'EXPORT_NOT_READY',
      'EXPORT_WITHOUT_FILE',
      'EXPORT_WITHOUT_FILE',
    ])
    held.release()
    await client.ended(running.task_id)
  })

  test('a callback that did not arrive is listed with its next attempt, and can be sent again', async () => {
    const { business, client, read } = await setup()
    const receiver = business.receiver(503, 204)
    const { task_id } = await client.run({
      source_url: business.source({ total: 1 }).url,
      callback: receiver.url,
    })
    await receiver.call()
    type Deliveries = { items: { task_id: string; delivered: boolean; next_attempt_at: string | null }[] }
    const failed = await until('the attempt is recorded', async () => {
      const { items } = await read<Deliveries>('/api/deliveries?failed=true', ADMIN_TOKEN)
      return items[0]?.next_attempt_at && items
    })
    expect(failed).toMatchObject([{ task_id, delivered: false }])
    const again = await client.ask('POST', `/api/exports/${task_id}/deliveries/resend`, {
      key: client.project.key,
    })
    expect(again.status).toBe(202)
    const told = await until('it arrives', async () => {
      const { items } = await read<Deliveries>(`/api/exports/${task_id}/deliveries`)
      return items.some(({ delivered }) => delivered) && items
    })
    expect(told).toMatchObject([
      { delivered: false, next_attempt_at: null },
      { delivered: true, next_attempt_at: null },
    ])
    const ids = receiver.calls.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
    const body = await read<{ type: string; data: { task_id: string } }>(`/api/exports/${task_id}/callback`)
    expect(body).toMatchObject({ type: 'export.succeeded', data: { task_id } })
  })

  test('a callback that is sent again many times at once has one chain of attempts', async () => {
    const { business, client, ledger } = await setup()
    const receiver = business.receiver(503)
    const source_url = business.source({ total: 1 }).url
    const { task_id } = await client.run({ source_url, callback: receiver.url })
    const resend = () =>
      client.ask('POST', `/api/exports/${task_id}/deliveries/resend`, { key: client.project.key })
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(Array.from({ length: 6 }, resend))
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(202))
      await receiver.call()
    }
    await until('one chain waits for its next attempt', async () => {
      const jobs = await ledger.db
        .selectFrom('jobs')
        .select(['state', 'due_at', 'created_at', 'attempts'])
        .where('kind', '=', 'callback')
        .where('state', 'in', ['pending', 'running', 'waiting'])
        .execute()
      expect(jobs.filter(({ state }) => state === 'pending').length).toBeLessThanOrEqual(1)
      return jobs.length === 1 && jobs[0]?.state === 'pending' && jobs[0].attempts > 0
    })
    const ids = receiver.calls.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
  })
})
