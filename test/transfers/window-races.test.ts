import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJobKey } from '../../src/transfers/transfer-keys.ts'
import { availableBackends, type BackendName } from '../support/backends.ts'
import { bytes, request, runDue, setupTransfers, WINDOW_SECONDS } from '../support/transfers.ts'

const WINDOW_MS = WINDOW_SECONDS * 1000
const RUNS: Record<BackendName, number> = { embedded: 60, 'postgres + redis': 25 }

const instance = fc.integer({ min: 0, max: 1 })
const join = fc.record({
  what: fc.constant('join' as const),
  instance,
  file: fc.integer({ min: 0, max: 1 }),
  agent: fc.integer({ min: 0, max: 3 }),
})
const close = fc.record({ what: fc.constant('close' as const), instance })
/** What happens at once, and how far the clock moves meanwhile and afterwards. */
const moment = fc.record({
  acts: fc.array(fc.oneof({ weight: 3, arbitrary: join }, close), { minLength: 1, maxLength: 12 }),
  during: fc.integer({ min: 0, max: 4_000 }),
  after: fc.integer({ min: 0, max: WINDOW_MS }),
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
        for (const { acts, during, after } of moments) {
          await Promise.all([...acts.map(act), clock.move(during)])
          await clock.move(after)
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
      { numRuns: RUNS[name] },
    )
  })
})
