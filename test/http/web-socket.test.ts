import { expect, test } from 'vitest'
import { bearer, openSocket } from '../support/event-readers.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../support/http.ts'
import { until } from '../support/until.ts'

test('a socket tells a task from its queue to its file, in one unbroken chain', async () => {
  const { address, business, client } = await startExports()
  const source = business.source({ total: 250 })
  source.holdFrom(1)
  const { task_id } = await client.start({ source_url: source.url, page_size: 100 })
  const reader = await openSocket(`${address}/ws?task_id=${task_id}`, {
    authorization: `Bearer ${client.project.key}`,
  })
  await source.untilHeld()
  source.release()
  const last = await reader.until('export.succeeded')
  expect(last).toMatchObject({ task_id, status: 'succeeded', stage: 'done', file: { rows: 250 } })
  for (const [index, message] of reader.messages.entries()) {
    expect(message).toMatchObject({ task_id, project_id: client.project.id })
    if (index > 0) expect(message.prev_seq).toBe(reader.messages[index - 1]?.seq)
  }
  const fetched = reader.messages.flatMap(({ progress }) => (progress ? [progress.fetched] : []))
  expect(fetched).toEqual([...fetched].sort((a, b) => a - b))
})

test('whoever connects late gets the final state at once', async () => {
  const { address, business, client, wharf } = await startExports()
  const view = await client.run({ source_url: business.source({ total: 3 }).url, operator_id: 'anna' })
  const { ticket } = (await (
    await wharf.ask('POST', `/api/exports/${view.task_id}/ticket`, { key: client.project.key })
  ).json()) as { ticket: string }
  for (const [query, headers] of [
    [`task_id=${view.task_id}`, bearer(client.project.key)],
    [`task_id=${view.task_id}&token=${ticket}`, {}],
    [`token=${ticket}`, {}],
  ] as const) {
    const reader = await openSocket(`${address}/ws?${query}`, headers)
    const message = await reader.until('export.succeeded')
    expect(message).toMatchObject({
      task_id: view.task_id,
      status: 'succeeded',
      file: view.file,
      operator_id: 'anna',
    })
    if (query.includes(ticket)) expect(message.download_url).toContain(`ticket=${ticket}`)
  }
})

test('[key-in-address] nobody hears what is not theirs', async () => {
  const { address, business, client, wharf } = await startExports()
  const source = business.source({ total: 1 })
  const view = await client.run({ source_url: source.url })
  const second = await client.run({ source_url: source.url })
  const other = await newProject(wharf)
  const { ticket } = (await (
    await wharf.ask('POST', `/api/exports/${view.task_id}/ticket`, { key: client.project.key })
  ).json()) as { ticket: string }
  const refused: [query: string, status: number, key?: string][] = [
    [`task_id=${view.task_id}`, 401],
    [`task_id=${view.task_id}&token=wrong`, 401],
    [`task_id=${view.task_id}&token=${ticket}x`, 401],
    [`task_id=${view.task_id}&token=${ticket}.x`, 401],
    // Keys do not belong into addresses.
    [`task_id=${view.task_id}&token=${client.project.key}`, 401],
    [`task_id=${view.task_id}&token=${ADMIN_TOKEN}`, 401],
    [`task_id=${second.task_id}&token=${ticket}`, 404],
    [`task_id=${view.task_id}`, 404, other.key],
    [`project_id=${client.project.id}`, 404, other.key],
    ['task_id=none', 404, client.project.key],
  ]
  for (const [query, status, key] of refused)
    await expect(openSocket(`${address}/ws?${query}`, key ? bearer(key) : {}), query).rejects.toThrow(
      `status ${status}`,
    )
  await expect(openSocket(`${address}/elsewhere`, bearer(client.project.key))).rejects.toThrow('status 404')
  const theirs = await openSocket(`${address}/ws?project_id=${other.id}`, bearer(other.key))
  const given = await wharf.ask('POST', `/api/projects/${client.project.id}/ticket`, {
    key: client.project.key,
  })
  const { ticket: watching } = (await given.json()) as { ticket: string }
  const mine = await openSocket(`${address}/ws?token=${watching}`)
  const all = await openSocket(`${address}/ws`, bearer(ADMIN_TOKEN))
  const third = await client.run({ source_url: source.url })
  await mine.until('export.succeeded', third.task_id)
  await all.until('export.succeeded', third.task_id)
  const fourth = await wharf.ask('POST', '/api/exports', { key: other.key, body: { source_url: source.url } })
  const { task_id } = (await fourth.json()) as { task_id: string }
  await theirs.until('export.succeeded', task_id)
  await all.until('export.succeeded', task_id)
  expect(new Set(theirs.messages.map((message) => message.project_id))).toEqual(new Set([other.id]))
  expect(new Set(mine.messages.map((message) => message.project_id))).toEqual(new Set([client.project.id]))
})

test('a socket takes up where another left off, and rubbish from a client harms nobody', async () => {
  const { address, business, client } = await startExports()
  const { task_id } = await client.run({ source_url: business.source({ total: 1 }).url })
  const reader = await openSocket(
    `${address}/ws?project_id=${client.project.id}&after=0`,
    bearer(client.project.key),
  )
  await reader.until('export.succeeded', task_id)
  expect(reader.messages.map(({ type }) => type)[0]).toBe('export.pending')
  reader.socket.send('{"rubbish": ')
  reader.socket.send('x'.repeat(1024 * 1024))
  await until('the client is let go', () => reader.socket.readyState === reader.socket.CLOSED)
  expect((await client.task(task_id)).status).toBe('succeeded')
})
