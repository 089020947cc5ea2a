import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { rowOf } from '../support/recording-engine.ts'
import { bytes, CONTENT, newProject, request, runDue, setupTransfers } from '../support/transfers.ts'

const { signal } = new AbortController()

describe.each(availableBackends())('the list of deliveries on %s', (name) => {
  async function setup() {
    const all = await setupTransfers(name)
    const { transfers } = all.first
    await transfers.putFile(all.projectId, 'release/v1/app.bin', bytes(), signal)
    const join = (agent: string, more: Record<string, unknown> = {}) =>
      transfers.request(all.projectId, request({ target_agent_id: agent, ...more }))
    const list = (more: Partial<Parameters<typeof transfers.jobs>[0]> = {}) =>
      transfers.jobs({ projectId: all.projectId, limit: 50, ...more })
    return { ...all, transfers, join, list }
  }

  test('a window that collects tells how many targets it has, and until when', async () => {
    const { join, list, clock } = await setup()
    const joined = await Promise.all([join('a'), join('b'), join('a')])
    const { items, next_cursor } = await list()
    expect(next_cursor).toBeNull()
    const start = Math.floor(clock.now() / 15_000) * 15_000
    expect(items).toMatchObject([
      {
        job_id: joined[0]?.jobId,
        status: 'Pending',
        file_path: '/release/v1',
        file_name: 'app.bin',
        targets: { total: 2, success: 0, failed: 0, downloading: 0, timeout: 0 },
        window_starts_at: new Date(start).toISOString(),
        window_ends_at: new Date(start + 15_000).toISOString(),
        file_size: null,
        delivered_bytes: 0,
        egress_bytes: null,
      },
    ])
  })

  test('an ended delivery tells its counts, what it delivered, and what of that the server sent', async () => {
    const { join, list, clock, carrier, first, transfers } = await setup()
    const codes: Record<string, number> = { a: 0, b: 117, c: 0 }
    carrier.answer = ({ targets }) => ({
      uploadError: null,
      targets: targets.map((target) => rowOf(target, codes[target.agentId] ?? 0)),
      egress: 20,
    })
    const [{ jobId }] = await Promise.all([join('a'), join('b'), join('c')])
    await clock.move(15_000)
    await runDue(first)
    const [item] = (await list()).items
    expect(item).toMatchObject({
      status: 'Failed',
      targets: { total: 3, success: 2, failed: 1, downloading: 0, timeout: 0 },
      file_size: CONTENT.length,
      delivered_bytes: 2 * CONTENT.length,
      egress_bytes: 20,
    })
    expect(await transfers.job(jobId)).toMatchObject({
      targets: 3,
      file_size: CONTENT.length,
      delivered_bytes: 2 * CONTENT.length,
      egress_bytes: 20,
    })
  })

  test('newest first, page by page, and by status', async () => {
    const { join, list, clock, first } = await setup()
    const ids: string[] = []
    for (let window = 0; window < 3; window++) {
      ids.unshift((await join('a')).jobId)
      await clock.move(15_000)
      if (window === 0) await runDue(first)
    }
    const one = await list({ limit: 2 })
    const two = await list({ limit: 2, cursor: one.next_cursor ?? '' })
    expect([...one.items, ...two.items].map(({ job_id }) => job_id)).toEqual(ids)
    expect(two.next_cursor).toBeNull()
    const ended = await list({ status: 'Success' })
    expect(ended.items.map(({ job_id }) => job_id)).toEqual(ids.slice(2))
    await expect(list({ cursor: 'nonsense' })).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  })

  test('a project sees its own, and nobody in particular sees all', async () => {
    const { join, list, ledger, transfers } = await setup()
    const other = await newProject(ledger)
    await join('a')
    await transfers.request(other, request({ biz_id: 77 }))
    expect((await list()).items).toHaveLength(1)
    expect((await transfers.jobs({ limit: 50 })).items).toHaveLength(2)
  })

  test('files are listed by the beginning of their path, the last one put first, each once', async () => {
    const { transfers, projectId, clock, ledger } = await setup()
    const put = async (path: string, text: string) => {
      await clock.move(1_000)
      await transfers.putFile(projectId, path, bytes(Buffer.from(text)), signal)
    }
    await put('logs/50%_a.txt', 'one')
    await put('logs/500_a.txt', 'one')
    await put('release/v1/app.bin', 'another')
    const paths = async (more: object = {}) =>
      (await transfers.files({ projectId, limit: 50, ...more })).items.map(({ path }) => path)
    expect(await paths()).toEqual(['release/v1/app.bin', 'logs/500_a.txt', 'logs/50%_a.txt'])
    // No pattern: the characters mean themselves.
    expect(await paths({ prefix: 'logs/50%' })).toEqual(['logs/50%_a.txt'])
    const page = await transfers.files({ projectId, limit: 2 })
    expect(page.items[0]).toMatchObject({ size: 7, put_at: new Date(clock.now()).toISOString() })
    expect(await paths({ cursor: page.next_cursor })).toEqual(['logs/50%_a.txt'])
    expect((await transfers.files({ projectId: await newProject(ledger), limit: 9 })).items).toEqual([])
  })
})
