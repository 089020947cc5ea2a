import { CompiledQuery } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { NewJob } from '../../src/jobs/job-store.ts'
import { statements } from '../../src/ledger/statements.ts'
import { availableBackends } from '../support/backends.ts'
import { eventually, setup } from '../support/engines.ts'

const noop = { name: 'noop', run: async () => null }
const job = (more: Partial<NewJob> = {}): NewJob => ({ kind: 'noop', payload: 1, tasks: [{}], ...more })

/** How many statements of this kind `work` sends, whoever else has a ledger open in this process. */
async function counted(text: string, work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const listen = (message: unknown) => {
    if ((message as { sql: string }).sql.includes(text)) count++
  }
  statements.subscribe(listen)
  await work().finally(() => statements.unsubscribe(listen))
  return count
}

describe.each(availableBackends())('jobs that are submitted together, on %s', (name) => {
  const open = async (works: boolean) => (await setup(name)).instance([noop], { works })

  test('share a transaction, and each has its own answer and its own event', async () => {
    const { engine, ledger } = await open(false)
    const inserts = await counted('insert into jobs', async () => {
      const all = await Promise.all(
        Array.from({ length: 40 }, (_, index) => engine.submit(job({ payload: index }))),
      )
      expect(new Set(all.map(({ jobId }) => jobId)).size).toBe(40)
      for (const [index, { jobId, taskIds }] of all.entries()) {
        expect(await engine.jobs.job(jobId)).toMatchObject({ state: 'pending', payload: index })
        expect((await engine.jobs.task(taskIds[0] as string))?.job.id).toBe(jobId)
      }
      const told = (await engine.events.read(0)).map(({ taskId }) => taskId)
      expect(told.toSorted()).toEqual(all.flatMap(({ taskIds }) => taskIds).toSorted())
    })
    expect(inserts).toBe(1)
    expect(await ledger.db.selectFrom('tasks').select('id').execute()).toHaveLength(40)
  })

  test('share one job if they have the same key, also with one that is under way', async () => {
    const { engine } = await open(false)
    const before = await engine.submit(job({ shareKey: 'old' }))
    const asked = ['old', 'new', 'new', 'old', 'other'].map((shareKey) => engine.submit(job({ shareKey })))
    const [old, first, second, again, other] = await Promise.all(asked)
    expect([old?.jobId, again?.jobId]).toEqual([before.jobId, before.jobId])
    expect(first?.jobId).toBe(second?.jobId)
    const joined = [old, first, second, again, other].map((one) => one?.joined)
    expect(joined.filter(Boolean)).toHaveLength(3)
    expect(other).toMatchObject({ joined: false })
    const { ledger } = engine
    const live = await ledger.db
      .selectFrom('jobs')
      .select(['share_key', 'live_tasks'])
      .orderBy('share_key')
      .execute()
    expect(live).toEqual([
      { share_key: 'new', live_tasks: 2 },
      { share_key: 'old', live_tasks: 3 },
      { share_key: 'other', live_tasks: 1 },
    ])
    expect(await engine.events.read(0)).toHaveLength(6)
  })

  test('fail alone, if the ledger or the engine cannot take one of them', async () => {
    const { engine } = await open(false)
    const taken = '00000000-0000-7000-8000-000000000001'
    await engine.submit(job({ tasks: [{ id: taken }] }))
    const asked = [job(), job({ tasks: [{ id: taken }] }), job({ kind: 'unknown' }), job()]
    const ended = await Promise.allSettled(asked.map((one) => engine.submit(one)))
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(ended[2]).toMatchObject({ reason: { code: 'JOB_KIND_UNKNOWN' } })
    expect(await engine.ledger.db.selectFrom('jobs').select('id').execute()).toHaveLength(3)
  })

  test('keep their odd texts as far as the ledger has them, and run once each', async () => {
    const { engine } = await open(true)
    const odd = { label: 'a\0b\ud800c', details: { text: 'a\0b\ud800"\\' } }
    const { taskIds } = await engine.submit(job({ tasks: [odd] }))
    await Promise.all(Array.from({ length: 20 }, () => engine.submit(job())))
    const { task } = (await engine.jobs.task(taskIds[0] as string)) ?? {}
    // PostgreSQL reads neither out of JSON, and its triggers look into some.
    const details = name === 'embedded' ? odd.details : { text: 'a\ufffdb\ufffd"\\' }
    expect(task).toMatchObject({ label: 'a\ufffdb\ufffdc', details })
    const ended = new Set<string>()
    await eventually(engine, ({ type, taskId }) => {
      if (type === 'noop.succeeded') ended.add(taskId as string)
      return ended.size === 21
    })
    const seqs = (await engine.events.read(0)).map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: 63 }, (_, index) => index + 1))
  })

  test('are claimed and ended by their ids, not by reading all that are pending or running', async () => {
    const { engine, ledger } = await open(true)
    const sent: { sql: string; parameters: readonly unknown[] }[] = []
    const listen = (message: unknown) => sent.push(message as (typeof sent)[number])
    statements.subscribe(listen)
    await Promise.all(Array.from({ length: 500 }, () => engine.submit(job())))
    await eventually(engine, ({ type }) => type === 'noop.succeeded')
    statements.unsubscribe(listen)
    const changes = sent.filter(({ sql: text }) => text.startsWith('update jobs set state'))
    expect(new Set(changes.map(({ sql: text }) => text)).size).toBeGreaterThan(1)
    const explain = name === 'embedded' ? 'explain query plan ' : 'explain '
    for (const change of changes) {
      const plan = await ledger.db.executeQuery(
        CompiledQuery.raw(explain + change.sql, [...change.parameters]),
      )
      expect(JSON.stringify(plan.rows)).not.toMatch(/jobs_(?!pkey|1)/)
    }
  })
})
