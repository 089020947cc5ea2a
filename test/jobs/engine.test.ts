import { describe, expect, test } from 'vitest'
import { Completed, type JobContext } from '../../src/jobs/index.ts'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import { availableBackends } from '../support/backends.ts'
import { eventually, gate, setup } from '../support/engines.ts'
import { until } from '../support/until.ts'

const quick = { base: 1, factor: 1, max: 1, jitter: 0 }

describe.each(availableBackends())('the engine on %s', (name) => {
  test('work that was accepted is done once and its result is kept', async () => {
    const { instance } = await setup(name)
    const seen: unknown[] = []
    const kind = {
      name: 'sum',
      async run({ job }: JobContext<{ a: number; b: number }>) {
        seen.push(job.id)
        return job.payload.a + job.payload.b
      },
    }
    const { engine, ledger } = await instance([kind])
    const { jobId, taskIds } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'sum', payload: { a: 2, b: 3 }, tasks: [{ projectId: 'p' }] }),
    )
    await eventually(engine, ({ type }) => type === 'sum.succeeded')
    expect(await engine.jobs.job(jobId)).toMatchObject({ state: 'succeeded', result: 5, attempts: 1 })
    expect(seen).toEqual([jobId])
    const types = (await engine.events.read(0, { taskId: taskIds[0] as string })).map(({ type }) => type)
    expect(types).toEqual(['sum.pending', 'sum.processing', 'sum.succeeded'])
  })

  test('a transaction that rolls back leaves neither job nor task nor event', async () => {
    const { instance } = await setup(name)
    const { engine, ledger } = await instance([{ name: 'noop', run: async () => null }])
    const refused = ledger.transaction(async (tx) => {
      await engine.enqueue(tx, { kind: 'noop', payload: null, tasks: [{}] })
      throw new Error('the caller changed its mind')
    })
    await expect(refused).rejects.toThrow('changed its mind')
    expect(await ledger.db.selectFrom('jobs').selectAll().execute()).toEqual([])
    expect(await ledger.db.selectFrom('tasks').selectAll().execute()).toEqual([])
    expect(await engine.events.read(0)).toEqual([])
  })

  test('a job that fails is tried again and keeps its last error when it gives up', async () => {
    const { instance } = await setup(name)
    let runs = 0
    const kind = {
      name: 'flaky',
      maxAttempts: 3,
      backoff: quick,
      async run() {
        throw new Error(`failure ${++runs}`)
      },
    }
    const { engine, ledger } = await instance([kind])
    const { jobId } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'flaky', payload: 0, tasks: [{}] }),
    )
    await eventually(engine, ({ type }) => type === 'flaky.failed')
    expect(runs).toBe(3)
    expect(await engine.jobs.job(jobId)).toMatchObject({
      state: 'failed',
      attempts: 3,
      error: { code: 'JOB_FAILED', message: 'failure 3' },
    })
  })

  test('an error that is not worth another try ends the job at once', async () => {
    const { instance } = await setup(name)
    const kind = {
      name: 'refused',
      async run() {
        throw new AppError(ERRORS.FORBIDDEN, 'never', { retryable: false })
      },
    }
    const { engine, ledger } = await instance([kind])
    const { jobId } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'refused', payload: 0, tasks: [{}] }),
    )
    await eventually(engine, ({ type }) => type === 'refused.failed')
    expect(await engine.jobs.job(jobId)).toMatchObject({ attempts: 1, error: { code: 'FORBIDDEN' } })
  })

  test('a job that takes too long is told to stop and fails', async () => {
    const { instance } = await setup(name)
    const kind = {
      name: 'slow',
      timeoutMs: 20,
      run: ({ signal }: JobContext) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    }
    const { engine, ledger } = await instance([kind])
    await ledger.transaction((tx) => engine.enqueue(tx, { kind: 'slow', payload: 0, tasks: [{}] }))
    const data = await eventually(engine, ({ type }) => type === 'slow.failed')
    expect(data).toMatchObject({ error: { code: 'JOB_TIMED_OUT' } })
  })

  test('a running job stops when its task is cancelled', async () => {
    const { instance } = await setup(name)
    const started = gate()
    const kind = {
      name: 'endless',
      run: ({ signal }: JobContext) => {
        started.open()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const { engine, ledger } = await instance([kind])
    const { taskIds, jobId } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'endless', payload: 0, tasks: [{}] }),
    )
    await started.passed
    await ledger.transaction((tx) => engine.cancelTask(tx, taskIds[0] as string))
    await eventually(engine, ({ type }) => type === 'endless.cancelled')
    expect(await engine.jobs.job(jobId)).toMatchObject({ state: 'cancelled' })
    const again = ledger.transaction((tx) => engine.cancelTask(tx, taskIds[0] as string))
    await expect(again).rejects.toMatchObject({ code: 'TASK_FINISHED' })
  })

  test('a job that waits for its time is cancelled without ever running', async () => {
    const { instance } = await setup(name)
    let runs = 0
    const { engine, ledger } = await instance([{ name: 'later', run: async () => ++runs }])
    const dueAt = (await ledger.now()) + 3_600_000
    const { taskIds, jobId } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'later', payload: 0, dueAt, tasks: [{}] }),
    )
    await ledger.transaction((tx) => engine.cancelTask(tx, taskIds[0] as string))
    expect(await engine.jobs.job(jobId)).toMatchObject({ state: 'cancelled', attempts: 0 })
    expect(runs).toBe(0)
  })

  test('a job that is due later runs then, and not before', async () => {
    const { instance } = await setup(name)
    const { engine, ledger } = await instance([{ name: 'later', run: async () => 'ran' }])
    const dueAt = (await ledger.now()) + 150
    const { jobId } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'later', payload: 0, dueAt, tasks: [{}] }),
    )
    await eventually(engine, ({ type }) => type === 'later.succeeded')
    const job = await engine.jobs.job(jobId)
    expect(job?.startedAt).toBeGreaterThanOrEqual(dueAt)
  })

  test('identical requests share one job, which goes on until its last task is cancelled', async () => {
    const { instance } = await setup(name)
    const started = gate()
    let runs = 0
    const kind = {
      name: 'shared',
      run: ({ signal }: JobContext) => {
        runs++
        started.open()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const { engine, ledger } = await instance([kind])
    const ask = () =>
      ledger.transaction((tx) =>
        engine.enqueue(tx, { kind: 'shared', payload: 0, shareKey: 'k', tasks: [{}] }),
      )
    const all = await Promise.all([ask(), ask(), ask()])
    expect(new Set(all.map(({ jobId }) => jobId)).size).toBe(1)
    expect(all.filter(({ joined }) => joined)).toHaveLength(2)
    await started.passed
    const [first, second, third] = all.map(({ taskIds }) => taskIds[0] as string)
    await ledger.transaction((tx) => engine.cancelTask(tx, first as string))
    await ledger.transaction((tx) => engine.cancelTask(tx, second as string))
    expect(await engine.jobs.job(all[0]?.jobId as string)).toMatchObject({ state: 'running' })
    await ledger.transaction((tx) => engine.cancelTask(tx, third as string))
    await eventually(engine, ({ type, taskId }) => type === 'shared.cancelled' && taskId === third)
    expect(runs).toBe(1)
    const fresh = await ask()
    expect(fresh.joined).toBe(false)
  })

  test('a failed task can be tried again and gets a new job', async () => {
    const { instance } = await setup(name)
    let broken = true
    const kind = {
      name: 'mended',
      maxAttempts: 1,
      async run() {
        if (broken) throw new Error('broken')
        return 'good'
      },
    }
    const { engine, ledger } = await instance([kind])
    const { taskIds } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'mended', payload: 0, tasks: [{}] }),
    )
    const taskId = taskIds[0] as string
    await eventually(engine, ({ type }) => type === 'mended.failed')
    broken = false
    await ledger.transaction((tx) => engine.retryTask(tx, taskId))
    await eventually(engine, ({ type }) => type === 'mended.succeeded')
    expect(await engine.jobs.task(taskId)).toMatchObject({ job: { state: 'succeeded', result: 'good' } })
  })

  test('progress reaches the ledger, and its last value is never lost', async () => {
    const { instance } = await setup(name)
    const kind = {
      name: 'counting',
      async run({ progress }: JobContext) {
        for (let count = 1; count <= 1000; count++) progress({ count })
      },
    }
    const { engine, ledger } = await instance([kind])
    const { jobId } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'counting', payload: 0, tasks: [{}] }),
    )
    await eventually(engine, ({ type }) => type === 'counting.succeeded')
    expect(await engine.jobs.job(jobId)).toMatchObject({ progress: { count: 1000 } })
    const written = (await engine.events.read(0)).filter(({ type }) => type === 'counting.progress')
    expect(written.length).toBeLessThanOrEqual(2)
  })

  test('what a handler commits with its end is written in the same transaction', async () => {
    const { instance } = await setup(name)
    const kind = {
      name: 'ending',
      run: async () =>
        new Completed('done', async (tx) => {
          await tx.db.insertInto('settings').values({ key: 'ended', value: 'yes', updated_at: 0 }).execute()
        }),
    }
    const { engine, ledger } = await instance([kind])
    await ledger.transaction((tx) => engine.enqueue(tx, { kind: 'ending', payload: 0, tasks: [{}] }))
    await eventually(engine, ({ type }) => type === 'ending.succeeded')
    expect(
      await ledger.db.selectFrom('settings').select('value').where('key', '=', 'ended').execute(),
    ).toEqual([{ value: 'yes' }])
  })

  test('a shutdown puts running jobs back without losing an attempt', async () => {
    const { instance } = await setup(name)
    const started = gate()
    let finish = false
    const kind = {
      name: 'interrupted',
      run: ({ signal }: JobContext) => {
        if (finish) return Promise.resolve('done')
        started.open()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const first = await instance([kind])
    const { jobId } = await first.ledger.transaction((tx) =>
      first.engine.enqueue(tx, { kind: 'interrupted', payload: 0, tasks: [{}] }),
    )
    await started.passed
    await first.engine.stop()
    expect(await first.engine.jobs.job(jobId)).toMatchObject({ state: 'pending', attempts: 0 })
    await first.close()
    finish = true
    const second = await instance([kind])
    await eventually(second.engine, ({ type }) => type === 'interrupted.succeeded')
    expect(await second.engine.jobs.job(jobId)).toMatchObject({ state: 'succeeded', attempts: 1 })
  })

  test('ended jobs are deleted with their tasks when their time is over', async () => {
    const { instance } = await setup(name)
    const removed: string[] = []
    const kind = {
      name: 'brief',
      keepMs: 0,
      run: async () => null,
      onDelete: async (job: { id: string }) => void removed.push(job.id),
    }
    const { engine, ledger } = await instance([kind])
    const { jobId } = await ledger.transaction((tx) =>
      engine.enqueue(tx, { kind: 'brief', payload: 0, tasks: [{}] }),
    )
    await eventually(engine, ({ type }) => type === 'brief.succeeded')
    // The leader's own first pass may be faster, or at work at the same moment.
    await engine.retention.runOnce(new AbortController().signal)
    await until('the job is removed', () => removed.includes(jobId))
    await until('its rows are gone', async () => (await engine.jobs.job(jobId)) === undefined)
    expect(await ledger.db.selectFrom('tasks').selectAll().execute()).toEqual([])
  })
})
