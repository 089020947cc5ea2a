import { expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

const tus = { 'tus-resumable': '1.0.0' }

test.each(availableBackends())(
  'uploads under way, originals and results count towards the disk of their project (%s)',
  async (backend) => {
    const wharf = await startHttp(backend, {
      env: { PROCESSOR_COMMAND: 'cp {input} {output}', PATH: process.env.PATH ?? '' },
    })
    const [{ id: projectId, key }, other] = [await newProject(wharf), await newProject(wharf)]
    const quotas = { disk_bytes: 250 }
    await wharf.ask('PUT', `/api/projects/${projectId}`, { key: ADMIN_TOKEN, body: { quotas } })
    const begin = (length: number, who = key) =>
      wharf.ask('POST', '/api/uploads', { key: who, headers: { ...tus, 'upload-length': String(length) } })
    const used = async () => {
      const answer = await wharf.ask('GET', `/api/projects/${projectId}/usage`, { key })
      const usage = (await answer.json()) as { quotas: { quota: string; used: number }[] }
      return usage.quotas.find(({ quota }) => quota === 'disk_bytes')?.used
    }
    const send = (path: string, body: string) =>
      wharf.ask('PATCH', path, {
        ...{ key, body },
        headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      })

    const first = (await begin(100)).headers.get('location') ?? ''
    const second = (await begin(150)).headers.get('location') ?? ''
    expect(await used()).toBe(250)
    const refused = await begin(1)
    expect([refused.status, await refused.json()]).toMatchObject([
      507,
      { code: 'QUOTA_DISK', quota: 'disk_bytes', limit: 250, used: 250 },
    ])
    const large = { disk_bytes: 8e9 }
    await wharf.ask('PUT', `/api/projects/${other.id}`, { key: ADMIN_TOKEN, body: { quotas: large } })
    expect([(await begin(5e9, other.key)).status, (await begin(5e9, other.key)).status]).toEqual([201, 507])

    expect((await wharf.ask('DELETE', second, { key, headers: tus })).status).toBe(204)
    await until('the room of the deleted upload is free', used, (bytes) => bytes === 100)
    // Too much for what is left, although the quota as a whole would do.
    expect((await begin(151)).status).toBe(507)

    expect((await send(first, 'x'.repeat(100))).status).toBe(204)
    await until('original and result are counted', used, (bytes) => bytes === 200)
    const rows = await wharf.ledger.db
      .selectFrom('processing_tasks')
      .select(['size', 'result_size'])
      .execute()
    expect(rows.map((row) => [Number(row.size), Number(row.result_size)])).toEqual([[100, 100]])

    await wharf.ledger.db.deleteFrom('processing_tasks').execute()
    expect(await used()).toBe(0)
  },
)
