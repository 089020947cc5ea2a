import { describe, expect, test, vi } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { bearer, openEvents } from '../support/event-readers.ts'
import { problemOf, startExports } from '../support/export-client.ts'
import { newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

describe.each(availableBackends())('on %s', (backend) => {
  test('a stream that broke off goes on after its last event, without a gap and without doubling', async () => {
    const { address, business, client } = await startExports(backend)
    const source = business.source({ total: 1 })
    const whole = await openEvents(`${address}/api/events?after=0`, bearer(client.project.key))
    expect(whole.status).toBe(200)
    const first = await client.run({ source_url: source.url })
    const cut = await openEvents(`${address}/api/events?after=0`, bearer(client.project.key))
    await cut.until('export.succeeded', first.task_id)
    cut.close()
    const second = await client.run({ source_url: source.url })
    const rest = await openEvents(`${address}/api/events?after=0`, {
      ...bearer(client.project.key),
      'last-event-id': cut.ids.at(-1) ?? '',
    })
    await rest.until('export.succeeded', second.task_id)
    await whole.until('export.succeeded', second.task_id)
    const joined = [...cut.messages, ...rest.messages]
    expect(joined.map(({ seq }) => seq)).toEqual(whole.messages.map(({ seq }) => seq))
    expect([...cut.ids, ...rest.ids]).toEqual(whole.ids)
    for (const [index, message] of joined.entries()) {
      expect(String(message.seq)).toBe(whole.ids[index])
      expect(message.prev_seq).toBe(joined[index - 1]?.seq ?? 0)
    }
  })

  test('a project hears only of itself', async () => {
    const { wharf, address, business, client } = await startExports(backend)
    const other = await newProject(wharf)
    const source = business.source({ total: 1 })
    const mine = await openEvents(`${address}/api/events?after=0`, bearer(client.project.key))
    const answer = await wharf.ask('POST', '/api/exports', {
      key: other.key,
      body: { source_url: source.url },
    })
    const theirs = ((await answer.json()) as { task_id: string }).task_id
    const { task_id } = await client.run({ source_url: source.url })
    await mine.until('export.succeeded', task_id)
    expect(mine.messages.every((message) => message.project_id === client.project.id)).toBe(true)
    const refused = wharf.ask('GET', `/api/events?project_id=${other.id}`, {
      key: client.project.key,
      headers: { accept: 'text/event-stream' },
    })
    expect(await problemOf(refused)).toMatchObject({ status: 404 })
    const { ticket } = (await (
      await wharf.ask('POST', `/api/exports/${task_id}/ticket`, { key: client.project.key })
    ).json()) as { ticket: string }
    const narrow = await openEvents(`${address}/api/events?after=0&token=${ticket}`, {})
    await narrow.until('export.succeeded', task_id)
    expect(new Set(narrow.messages.map((message) => message.task_id))).toEqual(new Set([task_id]))
    const wrong = wharf.ask('GET', `/api/events?task_id=${theirs}&token=${ticket}`, {
      headers: { accept: 'text/event-stream' },
    })
    expect(await problemOf(wrong)).toMatchObject({ status: 404 })
    expect(await problemOf(wharf.ask('GET', '/api/events'))).toMatchObject({ status: 401 })
  })
})

test('the events of a task tell its whole story', async () => {
  const { business, client } = await startExports()
  const { task_id } = await client.run({ source_url: business.source({ total: 1 }).url })
  const events = await client.items<{ type: string; status: string; stage: string }>(task_id, 'events')
  expect(events.map(({ type }) => type).filter((type) => type !== 'export.progress')).toEqual([
    'export.pending',
    'export.processing',
    'export.succeeded',
  ])
  expect(events.map(({ stage }) => stage)).toEqual(expect.arrayContaining(['queued', 'fetching', 'done']))
})

test.runIf(availableBackends().length > 1)('what happens on one instance is heard on the other', async () => {
  const { wharf, business, client } = await startExports('postgres + redis')
  const second = await startHttp('postgres + redis', {
    backend: wharf.backend,
    env: { WHARF_DATA_DIR: temporaryFolder() },
  })
  const source = business.source({ total: 1 })
  const readers = [wharf.address, second.address].map((address) =>
    openEvents(`${address}/api/events?after=0`, bearer(client.project.key)),
  )
  const [one, two] = await Promise.all(readers)
  const made: string[] = []
  for (const ask of [wharf.ask, second.ask]) {
    const answer = await ask('POST', '/api/exports', {
      key: client.project.key,
      body: { source_url: source.url, fresh: true },
    })
    made.push(((await answer.json()) as { task_id: string }).task_id)
  }
  for (const task of made) {
    const [here, there] = [
      await one?.until('export.succeeded', task),
      await two?.until('export.succeeded', task),
    ]
    expect(here).toEqual(there)
  }
  expect(one?.ids).toEqual(two?.ids)
})

test('an idle stream is open at once and keeps itself alive, for clients that accept anything too', async () => {
  const { address, client } = await startExports()
  vi.useFakeTimers({ toFake: ['setInterval'] })
  try {
    const idle = await openEvents(`${address}/api/events`, { ...bearer(client.project.key), accept: '*/*' })
    expect(idle.status).toBe(200)
    vi.advanceTimersByTime(60_000)
    await until('heartbeats have arrived', () => idle.comments.length >= 2)
    expect(idle.messages).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})
