import { expect, onTestFinished, test } from 'vitest'
import type { AuditEntry } from '../../src/tenancy/audit-log.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { openConnection } from '../support/raw-connection.ts'
import { until } from '../support/until.ts'

test('[stale-key] what is open to everybody is open to somebody with an old key', async () => {
  const { ask } = await startHttp()
  for (const path of ['/livez', '/readyz', '/docs', '/docs/errors', '/openapi.json', '/', '/samples/orders'])
    for (const authorization of ['Bearer of-last-year', 'Basic abc', 'nonsense']) {
      const { status } = await ask('GET', path, { headers: { authorization } })
      expect([path, status]).toEqual([path, 200])
    }
  expect((await ask('GET', '/api/projects', { key: 'of-last-year' })).status).toBe(401)
})

test('[rude] headers that never come to an end are cut', async () => {
  const { address } = await startHttp('embedded', { env: { WHARF_BODY_TIMEOUT_SECONDS: '1' } })
  const lines = await Promise.all(Array.from({ length: 30 }, () => openConnection(address)))
  onTestFinished(() => lines.forEach((line) => void line.destroy()))
  for (const line of lines) line.resume()
  for (const line of lines) line.write('GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  await until('all are gone', () => lines.every((line) => line.readableEnded || line.destroyed))
})

test('a request with two hosts is refused', async () => {
  const { address } = await startHttp()
  const line = await openConnection(address)
  let text = ''
  line.on('data', (chunk) => {
    text += chunk
  })
  line.write('GET /livez HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n')
  await until('it is answered', () => text.includes('REQUEST_INVALID'))
  expect(text).toMatch(/^HTTP\/1.1 400 /)
})

test('no address may have control characters in it', async () => {
  const { client, business } = await startExports()
  const { url } = business.source()
  for (const odd of ['\r\n', '\t', '\n', '\u007f', '\u0001'])
    for (const body of [
      { source_url: url, callback: `${url}/a${odd}b` },
      { source_url: `${url}/a${odd}b` },
      { source_url: `${odd}${url}` },
    ]) {
      const answer = await client.post(body)
      expect([answer.status, JSON.stringify(body)]).toEqual([400, JSON.stringify(body)])
    }
})

test('the audit log names what is done to connections and agents, and who was refused', async () => {
  const wharf = await startHttp()
  const { id, key } = await newProject(wharf)
  const admin = (method: string, path: string, body?: object) =>
    wharf.ask(method, path, { key: ADMIN_TOKEN, ...(body && { body }) })
  const connection = { driver: 'postgres', url: 'postgres://u:p@127.0.0.1:1/x', projects: [id] }
  expect((await admin('PUT', '/api/connections/erp', connection)).ok).toBe(true)
  expect((await admin('DELETE', '/api/connections/erp')).ok).toBe(true)
  expect((await wharf.ask('POST', '/api/projects', { key, body: { name: 'x' } })).status).toBe(403)
  expect((await wharf.ask('GET', '/api/audit', { key: 'guessed' })).status).toBe(401)
  const entries = async () => {
    const answer = await admin('GET', '/api/audit?limit=1000')
    return ((await answer.json()) as { items: AuditEntry[] }).items
  }
  const refused = await until('the attempt is recorded', async () => {
    const found = (await entries()).filter(({ action }) => action === 'admin.refused')
    return found.length > 0 ? found : undefined
  })
  // One for each address and hour: nobody fills the log with them.
  expect(refused).toHaveLength(1)
  expect(refused[0]).toMatchObject({ target: 'POST /api/projects', project_id: id })
  expect(refused[0]?.actor).toMatch(/^key /)
  expect((await entries()).map(({ action }) => action).filter((name) => name.startsWith('conn'))).toEqual([
    'connection.changed',
    'connection.deleted',
  ])
  expect((await entries()).filter(({ action }) => action.includes('/'))).toEqual([])
})
