import { describe, expect, test } from 'vitest'
import { openProjectAdmin } from '../../src/app/admin.ts'
import { noteAdminToken } from '../../src/app/ground/note-admin-token.ts'
import { createLog } from '../../src/kernel/index.ts'
import type { AuditEntry } from '../../src/tenancy/audit-log.ts'
import { AuditLog, hashSecret, openSealer, SettingsStore } from '../../src/tenancy/index.ts'
import { availableBackends } from '../support/backends.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

type Wharf = Pick<Awaited<ReturnType<typeof startHttp>>, 'ask'>

async function entries({ ask }: Wharf, query = ''): Promise<AuditEntry[]> {
  const answer = await ask('GET', `/api/audit?limit=1000${query}`, { key: ADMIN_TOKEN })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { items: AuditEntry[] }).items
}

describe.each(availableBackends())('the audit log on %s', (name) => {
  test('has who did what to projects, keys and settings, in order, and no secret', async () => {
    const wharf = await startHttp(name)
    const admin = (method: string, path: string, body?: object) =>
      wharf.ask(method, path, { key: ADMIN_TOKEN, ...(body && { body }) })
    const { id, key, secret } = await newProject(wharf)
    const keys = `/api/projects/${id}/keys`
    const made = (await (await admin('POST', keys, { name: 'ci', scopes: ['read'] })).json()) as {
      key_id: string
      api_key: string
    }
    await admin('DELETE', `${keys}/${made.key_id}`)
    await admin('POST', `/api/projects/${id}/rotate`, { what: 'webhook_secret' })
    await admin('PUT', `/api/projects/${id}`, { biz_ids: [7] })
    await admin('PUT', '/api/settings/max_concurrent', { value: 5 })
    await admin('DELETE', `/api/projects/${id}`)
    // What was refused was not done.
    expect((await admin('DELETE', `/api/projects/${id}`)).status).toBe(404)
    expect((await wharf.ask('POST', '/api/projects', { key, body: { name: 'x' } })).status).toBe(401)
    const seen = (await entries(wharf)).filter(({ action }) => action !== 'admin.refused')
    expect(seen.map(({ action, target }) => [action, target])).toEqual([
      ['project.created', id],
      ['key.created', `${id} ${made.key_id}`],
      ['key.revoked', `${id} ${made.key_id}`],
      ['project.rotated', id],
      ['project.changed', id],
      ['setting.changed', ''],
      ['project.deleted', id],
    ])
    for (const entry of seen) expect(entry).toMatchObject({ actor: 'admin', address: expect.any(String) })
    expect(seen[5]).toMatchObject({ detail: { value: 5 }, project_id: null })
    expect(seen[1]).toMatchObject({ detail: { name: 'ci', scopes: ['read'] }, project_id: id })
    const text = JSON.stringify(seen)
    for (const hidden of [key, secret, made.api_key]) expect(text).not.toContain(hidden)
    expect(await entries(wharf, `&after=${seen[1]?.seq}&action=project.deleted`)).toEqual([seen[6]])
    expect(await entries(wharf, '&actor=somebody')).toEqual([])
  })

  test('cannot be changed, and a deed that is rolled back is not in it', async () => {
    const wharf = await startHttp(name)
    await newProject(wharf)
    const { db } = wharf.ledger
    await expect(db.updateTable('audit').set({ actor: 'else' }).execute()).rejects.toThrow(/append-only/)
    await expect(db.deleteFrom('audit').execute()).rejects.toThrow(/append-only/)
    const { ledger } = wharf
    const audit = new AuditLog(ledger)
    const deed = { actor: 'test', action: 'a', projectId: null, target: '', address: null }
    const before = await entries(wharf)
    const rolledBack = ledger.transaction(async (tx) => {
      audit.record(tx, deed)
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect(await entries(wharf)).toEqual(before)
    await audit.recordAlone(deed)
    expect((await entries(wharf)).at(-1)).toMatchObject({ actor: 'test' })
  })
})

test('cancels and downloads are recorded with the key that was used', async () => {
  const { wharf, client, business } = await startExports()
  const { task_id } = await client.run({ source_url: business.source({ total: 2 }).url })
  await client.bytes(task_id)
  const source = business.source({ total: 5_000 })
  source.holdFrom(1)
  const held = await client.start({ source_url: source.url })
  const answer = await client.ask('DELETE', `/api/exports/${held.task_id}`, { key: client.project.key })
  expect(answer.ok).toBe(true)
  source.release()
  const [download] = await until('the download is recorded', async () => {
    const found = await entries(wharf, '&action=export.downloaded')
    return found.length > 0 ? found : undefined
  })
  expect(download).toMatchObject({ target: task_id, project_id: client.project.id })
  expect(download?.actor).toMatch(/^key \S+$/)
  const [cancel] = await entries(wharf, '&action=export.cancelled')
  expect(cancel).toMatchObject({ target: held.task_id, actor: download?.actor })
})

test('a command that works on the ledger itself is recorded too', async () => {
  const first = await startHttp()
  await first.stop()
  const admin = await openProjectAdmin(first.config)
  const { project_id } = await admin.createProject('shop')
  await admin.close()
  const again = await startHttp('embedded', { backend: first.backend })
  expect(await entries(again)).toMatchObject([
    { actor: 'command', action: 'project.created', target: project_id },
  ])
})

test('a start with another admin token than the last one is said in one line and recorded', async () => {
  const { ledger, config, ask } = await startHttp()
  const sealer = await openSealer(new SettingsStore(ledger), config.WHARF_SEAL_KEY)
  const lines: string[] = []
  const log = createLog({ level: 'info', destination: { write: (line) => lines.push(JSON.parse(line).msg) } })
  const start = async (token: string, others: { host: string; pid: number }[] = []) => {
    await noteAdminToken({ engine: { others }, ledger, sealer, log }, hashSecret(token))
    return lines.splice(0)
  }
  const changes = async () => (await entries({ ask }, '&action=admin_token.changed')).length
  expect(await start(ADMIN_TOKEN)).toEqual([])
  expect(await changes()).toBe(0)
  expect(await start('a-token-of-tomorrow')).toEqual([
    expect.stringContaining('another one than at the last start'),
  ])
  expect(await start('a-token-of-tomorrow')).toEqual([])
  expect(await start(ADMIN_TOKEN, [{ host: 'dock', pid: 7 }])).toEqual([
    expect.stringMatching(/process 7 on dock.*set the same WHARF_ADMIN_TOKEN on each/),
  ])
  expect(await changes()).toBe(2)
  const kept = await ledger.db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', 'admin_token_in_force')
    .execute()
  expect(kept.map(({ value }) => value)).not.toContain(hashSecret(ADMIN_TOKEN))
})

test('becomes a file by an export of Wharf itself, for an admin alone', async () => {
  const { wharf, client } = await startExports()
  const { id, key } = client.project
  for (let value = 1; value <= 3; value++)
    await wharf.ask('PUT', '/api/settings/max_concurrent', { key: ADMIN_TOKEN, body: { value } })
  const body = { project_id: id, type: 'jsonl', source: { kind: 'audit', action: 'setting.changed' } }
  const started = await wharf.ask('POST', '/api/exports', { key: ADMIN_TOKEN, body })
  expect(started.status).toBe(202)
  const { task_id } = (await started.json()) as { task_id: string }
  await until('it is done', async () => (await client.task(task_id)).status === 'succeeded')
  const text = Buffer.from(await client.bytes(task_id)).toString()
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEntry)
  expect(rows.map(({ actor, detail }) => [actor, detail])).toEqual(
    [1, 2, 3].map((value) => ['admin', JSON.stringify({ value })]),
  )
  const sync = await wharf.ask('POST', '/api/exports?mode=sync', { key: ADMIN_TOKEN, body })
  expect((await sync.text()).trim().split('\n')).toHaveLength(3)
  // Neither a key nor a connection of that name leads to it.
  for (const path of ['/api/exports', '/api/exports?mode=sync', '/api/exports/preview']) {
    expect([path, (await wharf.ask('POST', path, { key, body })).status]).toEqual([path, 403])
    const source = { kind: 'sql', connection: 'wharf:audit', query: 'select 1', params: [0, null, null] }
    const hidden = await wharf.ask('POST', path, { key, body: { ...body, source } })
    expect([path, hidden.status]).toEqual([path, 400])
  }
})
