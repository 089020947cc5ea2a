import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { parseJobKey } from '../../src/transfers/transfer-keys.ts'
import { availableBackends, type BackendName } from '../support/backends.ts'
import {
  bytes,
  request,
  runDue,
  setupTransfers,
  type TransferInstance,
  WINDOW_SECONDS,
} from '../support/transfers.ts'
import { until } from '../support/until.ts'

const WINDOW_MS = WINDOW_SECONDS * 1000
const RUNS: Record<BackendName, number> = { embedded: 60, 'postgres + redis': 20 }

const instance = fc.integer({ min: 0, max: 1 })
const join = fc.record({
  what: fc.constant('join' as const),
  instance,
  file: fc.integer({ min: 0, max: 1 }),
  agent: fc.integer({ min: 0, max: 3 }),
})
const close = fc.record({ what: fc.constant('close' as const), instance })
/** What happens at once: a little before a window's end, while the clock moves a little. */
const moment = fc.record({
  acts: fc.array(fc.oneof({ weight: 3, arbitrary: join }, close), { minLength: 1, maxLength: 12 }),
  before: fc.integer({ min: 0, max: 20 }),
  during: fc.integer({ min: 0, max: 40 }),
})

describe.each(availableBackends())('racing instances on %s', (name) => {
  test('no target is lost or doubled where one window meets the next', async () => {
    const { instances, clock, ledger, carrier, projectId, first } = await setupTransfers(name, {
      instances: 2,
    })
    for (const file of [0, 1])
      await first.transfers.putFile(projectId, `f${file}`, bytes(), new AbortController().signal)
    let biz = 0

    await fc.assert(
      fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 8 }), async (moments) => {
        biz++
        carrier.orders.clear()
        const joined: { taskId: string; jobId: string; agent: string; askedAt: number }[] = []
        const act = async (one: (typeof moments)[number]['acts'][number]) => {
          const on = instances[one.instance]!
          if (one.what === 'close') return void (await runDue(on))
          const agent = `agent-${one.agent}`
          const askedAt = clock.now()
          const body = request({
            biz_id: biz,
            file_path: '',
            file_name: `f${one.file}`,
            target_agent_id: agent,
          })
          joined.push({ ...(await on.transfers.request(projectId, body)), agent, askedAt })
        }
        for (const { acts, before, during } of moments) {
          await clock.move(Math.max(0, WINDOW_MS - (clock.now() % WINDOW_MS) - before))
          await Promise.all([...acts.map(act), clock.move(during)])
        }
        // Whatever is still open by then: the end of the window being asked for, or of the one after it.
        await clock.move(2 * WINDOW_MS)
        await Promise.all(instances.map((one) => runDue(one)))

        const windows = await ledger.db
          .selectFrom('transfer_windows')
          .selectAll()
          .where('biz_id', '=', biz)
          .execute()
        for (const window of windows) {
          expect(window.status).toBe('Success')
          const wanted = joined.filter(({ jobId }) => jobId === window.public_id).map(({ agent }) => agent)
          const order = carrier.orders.get(window.engine_task_id ?? '')
          expect(order?.targets.map(({ agentId }) => agentId).sort()).toEqual([...new Set(wanted)].sort())
        }
        // One delivery a window, and none for anything else.
        expect(carrier.orders.size).toBe(windows.length)
        for (const { taskId, jobId, askedAt } of joined) {
          expect((await first.transfers.task(taskId)).status).toBe('Success')
          const bucket = parseJobKey(jobId)?.bucket ?? 0
          expect((bucket + 1) * WINDOW_MS).toBeGreaterThan(askedAt)
        }
      }),
      // A smaller example is not worth the minutes that finding one takes.
      { numRuns: RUNS[name], endOnFailure: true },
    )
  })

  async function setup() {
    const all = await setupTransfers(name, { instances: 2 })
    const [one, two] = all.instances as [TransferInstance, TransferInstance]
    await one.transfers.putFile(all.projectId, 'f', bytes(), new AbortController().signal)
    const ask = (agent: string) => request({ file_path: '', file_name: 'f', target_agent_id: agent })
    await one.transfers.request(all.projectId, ask('first'))
    /** True once somebody waits for a lock. SQLite has one writer, and waiting for it is not seen from outside. */
    const waits = async () => {
      if (all.ledger.dialect === 'sqlite') return true
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(all.ledger.db)
      return rows.length > 0
    }
    return { ...all, one, two, ask, waits }
  }

  test('a close waits for a join that is under way, and takes its target along', async () => {
    const { one, two, ask, waits, ledger, clock, carrier, projectId } = await setup()
    let closing: Promise<number> | undefined
    let closed = false
    await ledger.transaction(async (tx) => {
      await one.transfers.requestIn(tx, projectId, ask('late'))
      await clock.move(WINDOW_MS)
      closing = runDue(two).finally(() => (closed = true))
      await until('the close waits', async () => closed || (await waits()))
    })
    await closing
    const [order] = carrier.orders.values()
    expect(order?.targets.map(({ agentId }) => agentId).sort()).toEqual(['first', 'late'])
  })

  test('a join that waits for a close goes to the next window', async () => {
    const { one, ask, waits, ledger, projectId } = await setup()
    const before = await one.transfers.request(projectId, ask('early'))
    let joining: Promise<{ jobId: string }> | undefined
    let joined = false
    await ledger.transaction(async (tx) => {
      await tx.db.updateTable('transfer_windows').set({ status: 'Running' }).execute()
      joining = one.transfers.request(projectId, ask('late')).finally(() => (joined = true))
      await until('the join waits', async () => joined || (await waits()))
    })
    const bucketOf = (jobId: string | undefined) => parseJobKey(jobId ?? '')?.bucket
    expect(bucketOf((await joining)?.jobId)).toBe((bucketOf(before.jobId) ?? 0) + 1)
  })
})
