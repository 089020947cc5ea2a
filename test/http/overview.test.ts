import { describe, expect, test } from 'vitest'
import { bodyOf, startFeed } from '../runs/feed-server.ts'
import { availableBackends } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

interface Answer {
  at: string
  domains: Record<string, { finished_last_hour: number; failed_last_hour: number; per_minute: unknown[] }>
  instances: { instance_id: string; leader: boolean }[]
  leader: string
}

describe.each(availableBackends())('the overview over HTTP on %s', (name) => {
  test('every domain counts, and the only instance leads', async () => {
    const wharf = await startHttp(name, {
      env: { PROCESSOR_COMMAND: 'cp {input} {output}', COLLECT_WINDOW_SECONDS: '1' },
    })
    const { ask, engine } = wharf
    const admin = (method: string, path: string, body?: unknown) =>
      ask(method, path, { key: ADMIN_TOKEN, body })
    const overview = async () => (await (await admin('GET', '/api/overview')).json()) as Answer
    const empty = await overview()
    expect(Object.keys(empty.domains)).toEqual(['exports', 'transfers', 'runs', 'processing'])
    const project = await newProject(wharf)
    const feed = await startFeed([{ id: 'x', name: 'x.txt', body: bodyOf('x', 40) }])
    await admin('PUT', '/api/accounts/ann', { url: feed.url })
    await admin('POST', '/api/runs', { handle: 'ann', kind: 'start' })
    await ask('POST', '/api/exports', {
      key: project.key,
      body: { source_url: `${wharf.address}/samples/nowhere?rows=3` },
    })
    await ask('POST', '/api/transfers', {
      key: project.key,
      body: {
        ...{ biz_id: 1, app_id: 1, file_path: '/no', file_name: 'file', file_signature: 'a'.repeat(64) },
        ...{ target_agent_id: 'a', target_file_dir: '/opt' },
      },
    })
    const made = await ask('POST', '/api/uploads', {
      key: project.key,
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '0', 'upload-metadata': 'filename YS50eHQ=' },
    })
    expect(made.status).toBe(201)
    const told = await until('every domain has ended something', async () => {
      const now = await overview()
      const ends = Object.values(now.domains).map(
        (domain) => domain.finished_last_hour + domain.failed_last_hour,
      )
      return ends.every((count) => count === 1) && now
    })
    expect(told.domains.runs).toMatchObject({ finished_last_hour: 1, failed_last_hour: 0 })
    expect(told.domains.exports).toMatchObject({ finished_last_hour: 0, failed_last_hour: 1 })
    expect(told.instances).toMatchObject([{ instance_id: engine.instance, leader: true }])
    expect(told.leader).toBe(engine.instance)
  })

  test('it is for the admin alone', async () => {
    const wharf = await startHttp(name)
    const { key } = await newProject(wharf)
    expect((await wharf.ask('GET', '/api/overview', { key })).status).toBe(403)
    expect((await wharf.ask('GET', '/api/overview')).status).toBe(401)
  })
})
