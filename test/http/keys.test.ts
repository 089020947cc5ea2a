import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { bearer, openEvents, openSocket } from '../support/event-readers.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

interface Made {
  key_id: string
  api_key: string
  expires_at: string | null
}

async function setup(name: Parameters<typeof startHttp>[0]) {
  const first = await startHttp(name)
  const other =
    name === 'embedded'
      ? first
      : await startHttp(name, { backend: first.backend, env: { WHARF_DATA_DIR: temporaryFolder() } })
  const project = await newProject(first)
  const path = `/api/projects/${project.id}/keys`
  const make = async (body: object = {}): Promise<Made> => {
    const all = { name: 'ci', scopes: ['all'], ...body }
    const answer = await first.ask('POST', path, { key: ADMIN_TOKEN, body: all })
    expect(answer.status).toBe(201)
    return (await answer.json()) as Made
  }
  const listed = async () => {
    const answer = await first.ask('GET', path, { key: ADMIN_TOKEN })
    return ((await answer.json()) as { items: Made[] }).items
  }
  const end = async ({ key_id }: Made) =>
    (await first.ask('DELETE', `${path}/${key_id}`, { key: ADMIN_TOKEN })).status
  const works = async (wharf: typeof first, key: string) =>
    (await wharf.ask('GET', '/api/session', { key })).status === 200
  return { first, other, project, path, make, listed, end, works }
}

describe.each(availableBackends())('keys on %s', (name) => {
  test('[leaked-key] a deleted key is refused at once, on every instance, and its streams end', async () => {
    const { first, other, make, listed, end, works } = await setup(name)
    const key = await make()
    expect(await works(other, key.api_key)).toBe(true)
    const stream = await openEvents(`${other.address}/api/events`, bearer(key.api_key))
    const socket = await openSocket(`${other.address}/ws`, bearer(key.api_key))
    let closed = 0
    socket.socket.on('close', (code) => {
      closed = code
    })
    expect(await end(key)).toBe(204)
    expect(await works(first, key.api_key)).toBe(false)
    expect(await works(other, key.api_key)).toBe(false)
    await until('the WebSocket is closed', () => closed === 1008)
    await until('the stream has ended', () => stream.names.includes('end'))
    expect(await end(key)).toBe(404)
    expect((await listed()).map(({ key_id }) => key_id)).not.toContain(key.key_id)
  })

  test('a key ends at its expires_at, and one in the past is refused', async () => {
    const { first, path, make, works } = await setup(name)
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const key = await make({ expires_at })
    expect(key.expires_at).toBe(expires_at)
    expect(await works(first, key.api_key)).toBe(true)
    await first.ledger.db
      .updateTable('project_keys')
      .set({ expires_at: (await first.ledger.now()) - 1 })
      .where('id', '=', key.key_id)
      .execute()
    expect(await works(first, key.api_key)).toBe(false)
    const late = { name: 'late', scopes: ['all'], expires_at: new Date(0).toISOString() }
    expect((await first.ask('POST', path, { key: ADMIN_TOKEN, body: late })).status).toBe(400)
    const odd = { name: 'odd', scopes: ['everything'] }
    expect((await first.ask('POST', path, { key: ADMIN_TOKEN, body: odd })).status).toBe(400)
  })

  test('[leaked-key] a rotation says how long the old key lives; with 0 hours it is dead at once', async () => {
    const { first, other, project, works } = await setup(name)
    const rotate = async (body: object) => {
      const answer = await first.ask('POST', `/api/projects/${project.id}/rotate`, { key: ADMIN_TOKEN, body })
      return (await answer.json()) as {
        api_key: string
        key_id: string
        webhook_secret: string
        old_expires_at: string
      }
    }
    const now = await first.ledger.now()
    const day = await rotate({ what: 'api_key' })
    const left = Date.parse(day.old_expires_at) - now
    expect(left).toBeGreaterThanOrEqual(24 * 3_600_000)
    expect(left).toBeLessThan(25 * 3_600_000)
    expect(await works(other, project.key)).toBe(true)
    // Also the key before the last one, whose day is not over.
    const last = await rotate({ what: 'api_key', grace_hours: 0 })
    for (const old of [project.key, day.api_key]) expect(await works(other, old)).toBe(false)
    expect(await works(other, last.api_key)).toBe(true)
    // Without an old one there is nothing to expire.
    const { key_id } = last
    await first.ask('DELETE', `/api/projects/${project.id}/keys/${key_id}`, { key: ADMIN_TOKEN })
    expect(await rotate({ what: 'api_key' })).toMatchObject({ old_expires_at: null })
    await rotate({ what: 'webhook_secret', grace_hours: 0 })
    expect(await first.projects.webhookSecrets(project.id)).toHaveLength(1)
  })
})

test('[leaked-key] tickets and links die with their key, and with their project', async () => {
  const { wharf, business, client } = await startExports()
  const { ask } = wharf
  const keys = `/api/projects/${client.project.id}/keys`
  const { task_id } = await client.run({ source_url: business.source({ total: 1 }).url })
  const issue = async () => {
    const body = { name: 'ci', scopes: ['read'] }
    const made = (await (await ask('POST', keys, { key: ADMIN_TOKEN, body })).json()) as Made
    const key = made.api_key
    const ticketOf = async (path: string) =>
      ((await (await ask('POST', path, { key })).json()) as { ticket: string }).ticket
    const view = (await (await ask('GET', `/api/exports/${task_id}`, { key })).json()) as {
      download_url: string
    }
    const list = (await (await ask('GET', `/api/projects/${client.project.id}/exports`, { key })).json()) as {
      items: { download_url: string }[]
    }
    const task = await ticketOf(`/api/exports/${task_id}/ticket`)
    const watching = await ticketOf(`/api/projects/${client.project.id}/ticket`)
    const links = [
      view.download_url,
      String(list.items[0]?.download_url),
      `/api/exports/${task_id}/file?ticket=${task}`,
      `/api/events?token=${watching}`,
    ]
    return { made, links }
  }
  const statusOf = async (link: string) => {
    const answer = await ask('GET', link)
    await answer.body?.cancel()
    return answer.status
  }
  const first = await issue()
  const second = await issue()
  for (const link of first.links) expect(await statusOf(link), link).toBe(200)
  await ask('DELETE', `${keys}/${first.made.key_id}`, { key: ADMIN_TOKEN })
  // A link for people says that it is over; a stream refuses the ticket.
  for (const link of first.links) expect([401, 410], link).toContain(await statusOf(link))
  for (const link of second.links) expect(await statusOf(link), link).toBe(200)
  const byAdmin = (await (await ask('GET', `/api/exports/${task_id}`, { key: ADMIN_TOKEN })).json()) as {
    download_url: string
  }
  expect(await statusOf(byAdmin.download_url)).toBe(200)
  expect((await ask('DELETE', `/api/projects/${client.project.id}`, { key: ADMIN_TOKEN })).status).toBe(204)
  for (const link of [...second.links, byAdmin.download_url])
    expect([401, 410], link).toContain(await statusOf(link))
})
