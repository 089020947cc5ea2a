import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'

interface Registered {
  project_id: string
  api_key: string
  webhook_secret: string
}

describe.each(availableBackends())('projects on %s', (name) => {
  test('a registered project gets a key that works and is stored only as a hash', async () => {
    const { ask, projects, ledger } = await startHttp(name)
    const answer = await ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: '商户平台' } })
    expect(answer.status).toBe(201)
    const made = (await answer.json()) as Registered
    expect(made.webhook_secret).toMatch(/^whsec_/)
    expect(await projects.authenticate(made.api_key)).toMatchObject({
      project: { id: made.project_id, name: '商户平台' },
    })
    const stored = JSON.stringify([
      await ledger.db.selectFrom('projects').selectAll().execute(),
      await ledger.db.selectFrom('project_keys').selectAll().execute(),
    ])
    expect(stored).not.toContain(made.api_key)
    expect(stored).not.toContain(made.webhook_secret)
    const list = await (await ask('GET', '/api/projects', { key: ADMIN_TOKEN })).json()
    expect(list).toMatchObject({ items: [{ project_id: made.project_id, name: '商户平台' }] })
  })

  test('after a rotation both keys work, and a day later only the new one', async () => {
    const { ask, projects, ledger } = await startHttp(name)
    const made = (await (
      await ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'a' } })
    ).json()) as Registered
    const path = `/api/projects/${made.project_id}/rotate`
    const rotated = (await (
      await ask('POST', path, { key: ADMIN_TOKEN, body: { what: 'api_key' } })
    ).json()) as Registered
    expect(rotated.api_key).not.toBe(made.api_key)
    expect(await projects.authenticate(made.api_key)).toBeDefined()
    expect(await projects.authenticate(rotated.api_key)).toBeDefined()
    await ledger.db
      .updateTable('project_keys')
      .set({ expires_at: (await ledger.now()) - 1 })
      .where('expires_at', 'is not', null)
      .execute()
    expect(await projects.authenticate(made.api_key)).toBeUndefined()
    expect(await projects.authenticate(rotated.api_key)).toBeDefined()

    await ask('POST', path, { key: ADMIN_TOKEN, body: { what: 'webhook_secret' } })
    const secrets = await projects.webhookSecrets(made.project_id)
    expect(secrets).toHaveLength(2)
    expect(secrets[1]).toBe(made.webhook_secret)
  })

  test('a deleted project is gone, its key with it', async () => {
    const { ask } = await startHttp(name)
    const made = (await (
      await ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'a' } })
    ).json()) as Registered
    expect((await ask('DELETE', `/api/projects/${made.project_id}`, { key: ADMIN_TOKEN })).status).toBe(204)
    const again = await ask('DELETE', `/api/projects/${made.project_id}`, { key: ADMIN_TOKEN })
    expect(again.status).toBe(404)
    expect(await again.json()).toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    expect((await ask('GET', '/api/projects', { key: made.api_key })).status).toBe(401)
  })

  test('a project key may not do what needs the admin token', async () => {
    const { ask } = await startHttp(name)
    const made = (await (
      await ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'a' } })
    ).json()) as Registered
    const refused = await ask('POST', '/api/projects', { key: made.api_key, body: { name: 'b' } })
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'FORBIDDEN' })
  })

  test('the same idempotency key and body get the same answer, another body 422', async () => {
    const { ask } = await startHttp(name)
    const headers = { 'idempotency-key': 'once' }
    const post = (body: unknown) => ask('POST', '/api/projects', { key: ADMIN_TOKEN, body, headers })
    const first = await (await post({ name: 'a' })).json()
    const second = await post({ name: 'a' })
    expect(second.status).toBe(201)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await second.json()).toEqual(first)
    const other = await post({ name: 'b' })
    expect(other.status).toBe(422)
    expect(await other.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    const list = (await (await ask('GET', '/api/projects', { key: ADMIN_TOKEN })).json()) as {
      items: unknown[]
    }
    expect(list.items).toHaveLength(1)
  })

  test('twenty simultaneous requests with one idempotency key make one project', async () => {
    const { ask } = await startHttp(name)
    const post = () =>
      ask('POST', '/api/projects', {
        key: ADMIN_TOKEN,
        body: { name: 'a' },
        headers: { 'idempotency-key': 'k' },
      })
    const answers = await Promise.all(Array.from({ length: 20 }, post))
    for (const answer of answers) expect([201, 409]).toContain(answer.status)
    const conflict = answers.find(({ status }) => status === 409)
    if (conflict) expect(await conflict.json()).toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT' })
    const list = (await (await ask('GET', '/api/projects', { key: ADMIN_TOKEN })).json()) as {
      items: unknown[]
    }
    expect(list.items).toHaveLength(1)
    expect((await post()).status).toBe(201)
  })
})

// SQLite has one writer, so there the second request simply waits for the first one's answer.
test.runIf(availableBackends().includes('postgres + redis'))(
  'a request is refused while the first one with its idempotency key is still at work',
  async () => {
    const { ask, ledger } = await startHttp('postgres + redis')
    const post = () =>
      ask('POST', '/api/projects', {
        key: ADMIN_TOKEN,
        body: { name: 'a' },
        headers: { 'idempotency-key': 'k' },
      })
    await ledger.transaction(async (tx) => {
      await tx.tryLock('idempotency admin k')
      const refused = await post()
      expect(refused.status).toBe(409)
      expect(await refused.json()).toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT' })
    })
    expect((await post()).status).toBe(201)
  },
)
