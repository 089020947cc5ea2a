import { describe, expect, test } from 'vitest'
import type { Job } from '../../../src/jobs/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { fleet, type Instance } from '../../support/fleet.ts'

const never = new AbortController().signal

/** Ended jobs, as many as wanted, that may be deleted now. */
async function endedJobs({ ledger }: Instance, kind: string, count: number, prefix = kind): Promise<void> {
  const at = await ledger.now()
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `${prefix}-${String(index).padStart(5, '0')}`,
    kind,
    lane: null,
    owner: null,
    share_key: null,
    state: 'succeeded' as const,
    payload: 'null',
    progress: null,
    result: null,
    error_code: null,
    error_message: null,
    worker: null,
    lease_until: null,
    due_at: at,
    wake_at: null,
    created_at: at,
    started_at: at,
    finished_at: at,
    delete_after: at,
  }))
  for (let from = 0; from < rows.length; from += 500)
    await ledger.db
      .insertInto('jobs')
      .values(rows.slice(from, from + 500))
      .execute()
}

describe.each(availableBackends())('retention on %s', (name) => {
  test('everything that is past its time goes in one pass, however much it is', async () => {
    const { instance, advance } = await fleet(name)
    const a = await instance([{ name: 'brief', run: async () => null }], { eventsKeptMs: 1_000 })
    await endedJobs(a, 'brief', 450)
    const row = {
      type: 't',
      kind: 'k',
      project_id: null,
      task_id: null,
      job_id: null,
      data: '{}',
      at: await a.ledger.now(),
    }
    for (let count = 0; count < 11; count++)
      await a.ledger.db
        .insertInto('events')
        .values(Array.from({ length: 1_000 }, () => row))
        .execute()
    await advance(1_001)
    expect(await a.engine.retention.runOnce(never)).toEqual({ jobs: 450, events: 10_999 })
    expect(await a.engine.events.last()).toBe(11_000)
  })

  test('what cannot be removed is kept and holds up nothing behind it', async () => {
    const { instance } = await fleet(name)
    let broken = true
    const removed: string[] = []
    const stuck = {
      name: 'stuck',
      run: async () => null,
      async onDelete() {
        if (broken) throw new Error('the disk is away')
      },
    }
    const brief = {
      name: 'brief',
      run: async () => null,
      onDelete: async (job: Job) => void removed.push(job.id),
    }
    const a = await instance([stuck, brief])
    await endedJobs(a, 'stuck', 250, 'a-stuck')
    await endedJobs(a, 'unknown', 5, 'b-unknown')
    await endedJobs(a, 'brief', 450, 'c-brief')
    expect(await a.engine.retention.runOnce(never)).toMatchObject({ jobs: 450 })
    expect(removed).toHaveLength(450)
    broken = false
    expect(await a.engine.retention.runOnce(never)).toMatchObject({ jobs: 250 })
  })

  test('what is unfinished or not yet past its time stays', async () => {
    const { instance, advance } = await fleet(name)
    const a = await instance([{ name: 'kept', keepMs: 60_000, run: async () => null }])
    await a.ledger.transaction((tx) =>
      a.engine.enqueue(tx, { kind: 'kept', payload: 0, dueAt: 9e12, tasks: [{}] }),
    )
    await endedJobs(a, 'kept', 1)
    await a.ledger.db
      .updateTable('jobs')
      .set({ delete_after: (await a.ledger.now()) + 60_000 })
      .where('state', '=', 'succeeded')
      .execute()
    await advance(59_999)
    expect(await a.engine.retention.runOnce(never)).toMatchObject({ jobs: 0 })
    await advance(1)
    expect(await a.engine.retention.runOnce(never)).toMatchObject({ jobs: 1 })
    expect(await a.ledger.db.selectFrom('jobs').select('state').execute()).toEqual([{ state: 'pending' }])
  })

  test('instances that are not heard of for an hour leave the list, living ones stay', async () => {
    const { instance, advance } = await fleet(name)
    const a = await instance([])
    const b = await instance([])
    const ids = async () =>
      (await a.ledger.db.selectFrom('instances').select('id').execute()).map(({ id }) => id)
    expect((await ids()).toSorted()).toEqual([a.engine.instance, b.engine.instance].toSorted())
    await advance(3_600_001)
    a.clock.advance(60_000)
    await expect
      .poll(async () => {
        await a.engine.retention.runOnce(never)
        return ids()
      })
      .toEqual([a.engine.instance])
    await a.engine.stop()
    expect(await ids()).toEqual([])
  })
})
