import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import type { DiskStore } from '../../src/storage/index.ts'
import { availableBackends } from '../support/backends.ts'
import { gate } from '../support/engines.ts'
import { allOf, rowOf } from '../support/recording-engine.ts'
import { bytes, CONTENT, request, runDue, SIGNATURE, setupTransfers } from '../support/transfers.ts'
import { until } from '../support/until.ts'

const TARGETS = ['a', 'b', 'c']

describe.each(availableBackends())('a delivery on %s', (name) => {
  async function setup(options: Parameters<typeof setupTransfers>[1] = {}) {
    const all = await setupTransfers(name, options)
    const { transfers } = all.first
    await transfers.putFile(all.projectId, 'release/v1/app.bin', bytes(), new AbortController().signal)
    const joinAll = async (more: Record<string, unknown> = {}) => {
      const tasks = await Promise.all(
        TARGETS.map((id) => transfers.request(all.projectId, request({ target_agent_id: id, ...more }))),
      )
      await all.clock.move(15_000)
      return { jobId: tasks[0]!.jobId, taskIds: tasks.map(({ taskId }) => taskId) }
    }
    const statuses = async (taskIds: string[]) =>
      Promise.all(taskIds.map(async (id) => (await transfers.task(id)).status))
    return { ...all, transfers, joinAll, statuses }
  }

  test('one target’s failure leaves the others alone', async () => {
    const { joinAll, statuses, carrier, first, transfers } = await setup()
    carrier.answer = ({ targets }) => ({
      uploadError: null,
      targets: targets.map((target) => rowOf(target, target.agentId === 'b' ? 117 : 0)),
    })
    const { jobId, taskIds } = await joinAll()
    await runDue(first)
    expect(await statuses(taskIds)).toEqual(['Success', 'Failed', 'Success'])
    expect(await transfers.job(jobId)).toMatchObject({
      status: 'Failed',
      failed_targets: { 'b:': { error_code: 117, error_msg: 'told' } },
    })
  })

  test('a host that is not connected is waited for, and does not count as downloading', async () => {
    const { joinAll, carrier, first, clock, transfers } = await setup()
    const here = new Set(['a', 'b'])
    carrier.answer = ({ targets }) => ({
      uploadError: null,
      targets: targets.map((target) => ({ ...rowOf(target, 115), connected: here.has(target.agentId) })),
    })
    const { jobId } = await joinAll()
    const run = runDue(first)
    const counts = async () => (await transfers.jobs({ limit: 1 })).items[0]?.targets
    await until('the first answer is written', async () => (await counts())?.absent === 1)
    expect(await counts()).toMatchObject({ total: 3, downloading: 2, absent: 1 })
    // To programs that know four states it is one of the open ones.
    expect((await transfers.job(jobId)).downloading_targets).toMatchObject({
      'a:': { error_code: 115, connected: true },
      'c:': { error_code: 115, connected: false },
    })
    here.add('c')
    await until('it has come', async () => {
      await clock.move(1_000)
      return (await counts())?.absent === 0
    })
    carrier.answer = (order) => allOf(order, 0)
    await until('the delivery is over', async () => {
      await clock.move(1_000)
      return (await counts())?.success === 3
    })
    await run
  })

  test('what failed is delivered again, to the same places and nowhere else', async () => {
    const { joinAll, carrier, first, clock, transfers, ledger } = await setup()
    const again = (jobId: string) => ledger.transaction((tx) => transfers.redeliver(tx, jobId))
    carrier.answer = ({ targets }) => ({
      uploadError: null,
      targets: targets.map((target) => rowOf(target, target.agentId === 'b' ? 117 : 0)),
    })
    const { jobId } = await joinAll()
    await runDue(first)
    carrier.answer = (order) => allOf(order, 0)
    const { job_id, targets, refused } = await again(jobId)
    expect([targets, refused]).toEqual([1, []])
    expect(job_id).not.toBe(jobId)
    await clock.move(15_000)
    await runDue(first)
    const [failed, repeated] = [await transfers.job(jobId), await transfers.job(job_id)]
    expect(Object.keys(repeated.success_targets)).toEqual(['b:'])
    expect(repeated.places).toEqual([{ ...failed.places[0], targets: 1 }])
    expect(repeated.file_signature).toBe(failed.file_signature)
    await expect(again(job_id)).rejects.toMatchObject({ code: 'NOTHING_FAILED' })
    await expect(again('AsyncDownloadJob:1:1:/no/such:1')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
  })

  test('rows that are late, doubled or unknown change nothing for anybody else', async () => {
    const { joinAll, statuses, carrier, first, clock } = await setup()
    let asked = 0
    carrier.answer = ({ targets }) => {
      asked++
      const rows = targets.slice(0, asked).flatMap((target) => [rowOf(target, 0), rowOf(target, 115)])
      const stranger = { agentId: 'x', containerId: '', directory: '/opt/app' }
      return { uploadError: null, targets: [...rows, rowOf(stranger, 5)] }
    }
    const { taskIds } = await joinAll()
    const run = runDue(first)
    for (const ended of [1, 2]) {
      await until('a target has ended', async () => {
        const now = await statuses(taskIds)
        return now.filter((status) => status === 'Success').length === ended
      })
      await clock.untilAsleep()
      await clock.move(1_000)
    }
    await run
    expect(await statuses(taskIds)).toEqual(['Success', 'Success', 'Success'])
  })

  test('an upload that failed fails every target', async () => {
    const { joinAll, statuses, carrier, first, transfers } = await setup()
    carrier.answer = (order) => ({ ...allOf(order, 0), uploadError: { code: 119, message: 'no source' } })
    const { jobId, taskIds } = await joinAll()
    await runDue(first)
    expect(await statuses(taskIds)).toEqual(['Failed', 'Failed', 'Failed'])
    expect((await transfers.job(jobId)).failed_targets['a:']).toMatchObject({
      error_code: 119,
      error_msg: 'no source',
    })
  })

  test('a file that is not there, or another one, fails the job before any engine is asked', async () => {
    const { joinAll, statuses, carrier, first, transfers } = await setup()
    const wrong = createHash('sha256').update('another').digest('hex')
    const mismatched = await joinAll({ file_signature: wrong })
    const missing = await joinAll({ file_name: 'nothing.bin' })
    await runDue(first)
    expect(await statuses([...mismatched.taskIds, ...missing.taskIds])).toEqual(Array(6).fill('Failed'))
    expect((await transfers.job(mismatched.jobId)).failed_targets['a:']).toMatchObject({ error_code: 2002 })
    expect((await transfers.job(missing.jobId)).failed_targets['a:']).toMatchObject({ error_code: 2001 })
    expect(carrier.orders.size).toBe(0)
  })

  test('an engine that never answers ends in a time-out, and is told to stop', async () => {
    const { joinAll, statuses, carrier, first, clock, transfers } = await setup()
    const hangs = gate<never>()
    carrier.answer = (order) =>
      carrier.asked.length === 1
        ? { uploadError: null, targets: [rowOf(order.targets[0]!, 0)] }
        : hangs.passed
    const { jobId, taskIds } = await joinAll()
    const run = runDue(first)
    await until('the first answer is written', async () => (await statuses(taskIds)).includes('Success'))
    await until('the second question is on its way', async () => {
      await clock.move(1_000)
      return carrier.asked.length === 2
    })
    await clock.move(600_000)
    await run
    expect((await statuses(taskIds)).sort()).toEqual(['Success', 'Timeout', 'Timeout'])
    expect(await transfers.job(jobId)).toMatchObject({ status: 'Timeout' })
    await runDue(first, 'transfer-terminate')
    expect(carrier.terminated).toHaveLength(1)
    expect(carrier.terminated[0]?.agents).toHaveLength(2)
  })

  test('an engine that cannot even be started times out as well', async () => {
    const { joinAll, statuses, carrier, first, clock } = await setup()
    carrier.onStart = () => new Promise(() => undefined)
    const { taskIds } = await joinAll()
    const run = runDue(first)
    await until('the delivery waits', async () => (await statuses(taskIds)).includes('Running'))
    await clock.untilAsleep()
    await clock.move(600_000)
    await run
    expect(await statuses(taskIds)).toEqual(['Timeout', 'Timeout', 'Timeout'])
    expect(carrier.terminated).toEqual([])
  })

  test('another instance takes a delivery over and goes on with the same engine task', async () => {
    const { joinAll, statuses, carrier, instances, ledger } = await setup({ instances: 2 })
    const dies = gate<never>()
    carrier.answer = () => dies.passed
    const { taskIds } = await joinAll()
    const dead = runDue(instances[0]!)
    await until('the engine was asked', () => carrier.asked.length === 1)
    // The first instance's lease runs out while it hangs; a leader would give the job free like this.
    await ledger.db.updateTable('jobs').set({ state: 'pending', worker: null, lease_until: null }).execute()
    carrier.answer = (order) => allOf(order, 0)
    await runDue(instances[1]!)
    expect(await statuses(taskIds)).toEqual(['Success', 'Success', 'Success'])
    expect(carrier.orders.size).toBe(1)
    expect(new Set(carrier.asked).size).toBe(1)
    await instances[0]!.engine.worker.runOnce()
    await dead
    expect(await statuses(taskIds)).toEqual(['Success', 'Success', 'Success'])
  })

  test('a delivery that is cancelled ends for its open targets, and the engine is told', async () => {
    const { joinAll, statuses, carrier, first, transfers } = await setup()
    carrier.answer = (order) => ({ uploadError: null, targets: [rowOf(order.targets[0]!, 0)] })
    const { jobId, taskIds } = await joinAll()
    const run = runDue(first)
    await until('a target has ended', async () => (await statuses(taskIds)).includes('Success'))
    await transfers.cancel(jobId)
    await first.engine.worker.runOnce()
    await run
    expect((await statuses(taskIds)).sort()).toEqual(['Failed', 'Failed', 'Success'])
    expect((await transfers.job(jobId)).status).toBe('Failed')
    await runDue(first, 'transfer-terminate')
    expect(carrier.terminated).toHaveLength(1)
  })

  test('a window that is cancelled while it collects starts nothing, and the next request opens another', async () => {
    const { transfers, projectId, carrier, first, clock } = await setup()
    const { jobId, taskId } = await transfers.request(projectId, request())
    await transfers.cancel(jobId)
    expect((await transfers.task(taskId)).status).toBe('Failed')
    const next = await transfers.request(projectId, request())
    expect(next.jobId).not.toBe(jobId)
    await clock.move(30_000)
    await runDue(first)
    expect(carrier.orders.size).toBe(1)
    expect((await transfers.task(next.taskId)).status).toBe('Success')
  })

  test('a delivery says what it waits for while the store is away', async () => {
    let away = true
    const { joinAll, statuses, transfers, first, clock } = await setup({
      store: (inner) =>
        new Proxy(inner, {
          get(target, property) {
            if (property !== 'open' || !away) return bound(target, property)
            return () => Promise.reject(new AppError(ERRORS.STORAGE_UNAVAILABLE, 'the store does not answer'))
          },
        }),
    })
    const { jobId, taskIds } = await joinAll()
    expect(await transfers.job(jobId)).toMatchObject({ waiting_for: null })
    const run = runDue(first)
    const waiting_for = { what: 'store', code: 'STORAGE_UNAVAILABLE', message: 'the store does not answer' }
    await until('it says so', async () => {
      await clock.move(1_000)
      return (await transfers.job(jobId)).waiting_for !== null
    })
    expect(await transfers.job(jobId)).toMatchObject({ waiting_for })
    expect(await transfers.task(taskIds[0] ?? '')).toMatchObject({ waiting_for })
    away = false
    await until('all have it', async () => {
      await clock.move(1_000)
      return (await statuses(taskIds)).every((status) => status === 'Success')
    })
    await run
    expect(await statuses(taskIds)).toEqual(Array(3).fill('Success'))
    expect(await transfers.job(jobId)).toMatchObject({ waiting_for: null })
    expect(await transfers.task(taskIds[0] ?? '')).toMatchObject({ waiting_for: null })
  })

  test('a delivery that is under way says what its carrier waits for', async () => {
    const { joinAll, statuses, transfers, carrier, first, clock } = await setup()
    carrier.answer = () => Promise.reject(new AppError(ERRORS.STORAGE_FULL, 'no room is left'))
    const { jobId, taskIds } = await joinAll()
    const run = runDue(first)
    await until('it says so', async () => {
      await clock.move(1_000)
      return (await transfers.job(jobId)).waiting_for !== null
    })
    const waiting_for = { what: 'disk', code: 'STORAGE_FULL', message: 'no room is left' }
    expect(await transfers.task(taskIds[0] ?? '')).toMatchObject({ status: 'Running', waiting_for })
    carrier.answer = (order) => allOf(order, 115)
    await until('it goes on', async () => {
      await clock.move(1_000)
      return (await transfers.job(jobId)).waiting_for === null
    })
    carrier.answer = (order) => allOf(order, 0)
    await until('all have it', async () => {
      await clock.move(1_000)
      return (await statuses(taskIds)).every((status) => status === 'Success')
    })
    await run
  })

  test('the file is fetched once, and a broken fetch poisons nothing', async () => {
    let opened = 0
    const { joinAll, statuses, carrier, first, clock } = await setup({
      store: (inner) =>
        new Proxy(inner, {
          get(target, property) {
            if (property !== 'open') return bound(target, property)
            return async (key: string) => {
              const real = await target.open(key)
              if (++opened > 1) return real
              real.stream.destroy()
              return { ...real, stream: Readable.from([CONTENT.subarray(0, 5)]) }
            }
          },
        }),
    })
    const one = await joinAll()
    const run = runDue(first)
    await until('the fetch broke', () => opened === 1)
    await until('it is tried again', async () => {
      await clock.move(2_000)
      return opened === 2
    })
    await run
    const two = await joinAll()
    await runDue(first)
    expect(opened).toBe(2)
    expect(await statuses([...one.taskIds, ...two.taskIds])).toEqual(Array(6).fill('Success'))
    const cache = join(first.dataDir, 'transfer-cache')
    expect(readdirSync(cache)).toEqual([SIGNATURE])
    expect([...carrier.orders.values()][0]).toMatchObject({
      localPath: join(cache, SIGNATURE),
      size: CONTENT.length,
    })
    expect(existsSync(join(cache, SIGNATURE))).toBe(true)
  })
})

function bound(target: DiskStore, property: string | symbol): unknown {
  const value = Reflect.get(target, property, target) as unknown
  return typeof value === 'function' ? value.bind(target) : value
}
