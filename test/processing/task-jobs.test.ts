import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import { tryOf } from '../../src/processing/stores/index.ts'
import { availableBackends } from '../support/backends.ts'
import { until } from '../support/until.ts'
import { setup, waitingCommand } from './setup.ts'

type Made = Awaited<ReturnType<typeof setup>>

async function untilTask({ store }: Made, id: string, status: string) {
  return until(
    `the task is ${status}`,
    () => store.details(id),
    (task) => task?.status === status,
  )
}

describe.each(availableBackends())(
  'a task without Redis is a job of the engine, on the ledger of %s',
  (name) => {
    const open = (options = {}) => setup(name, { ...options, withoutRedis: true })

    test('every step of a task is an event', async () => {
      const made = await open()
      await made.startProcessor({})
      const id = await made.create()
      await untilTask(made, id, 'COMPLETED')
      const events = await made.engine.events.read(0, { taskId: id })
      expect(events.map(({ type, data }) => [type, data])).toEqual([
        ['processing.pending', { status: 'PENDING' }],
        ['processing.processing', { status: 'PROCESSING' }],
        ['processing.succeeded', { status: 'COMPLETED' }],
      ])
    })

    test('without a processor tasks wait; the first server that has one does them', async () => {
      const made = await open()
      const idle = await made.startProcessor({ concurrency: 0 })
      const id = await made.create()
      expect((await made.store.get(id))?.status).toBe('PENDING')
      await idle.stop()
      await made.startProcessor({})
      await untilTask(made, id, 'COMPLETED')
    })

    test('a task that meets a full disk says so, stays PROCESSING, and costs no try of its command', async () => {
      const made = await open()
      const change = made.rows.changeIn.bind(made.rows)
      let full = 1
      vi.spyOn(made.rows, 'changeIn').mockImplementation(async (tx, id, set, from) => {
        // What is asked before the result appears.
        if (Object.keys(set).length === 0 && full-- > 0)
          throw new AppError(ERRORS.STORAGE_FULL, 'no room is left')
        return change(tx, id, set, from)
      })
      const id = await made.create()
      await made.startProcessor({})
      const task = await until(
        'it waits for the disk',
        () => made.store.details(id),
        (seen) => seen?.waitingFor !== undefined || seen?.status === 'COMPLETED',
      )
      expect(task).toMatchObject({
        status: 'PROCESSING',
        progress: null,
        waitingFor: { what: 'disk', code: 'STORAGE_FULL', message: 'no room is left' },
      })
      expect((await made.rows.newest({ limit: 1 }))[0]).toMatchObject({ outage: 'disk' })
      const done = await untilTask(made, id, 'COMPLETED')
      expect(done?.waitingFor).toBeUndefined()
    })

    test('a task that meets an outage before it is begun says so, too', async () => {
      const made = await open()
      const change = made.rows.changeIn.bind(made.rows)
      // A transaction is tried twice.
      let away = 2
      vi.spyOn(made.rows, 'changeIn').mockImplementation(async (tx, id, set, from) => {
        if (set.status === 'PROCESSING' && away-- > 0)
          throw new AppError(ERRORS.LEDGER_UNAVAILABLE, 'the ledger is away')
        return change(tx, id, set, from)
      })
      const id = await made.create()
      await made.startProcessor({})
      const task = await until(
        'it waits for the ledger',
        () => made.store.details(id),
        (seen) => seen?.waitingFor !== undefined || seen?.status === 'COMPLETED',
      )
      expect(task).toMatchObject({ status: 'PENDING', waitingFor: { what: 'ledger' } })
      expect((await untilTask(made, id, 'COMPLETED'))?.waitingFor).toBeUndefined()
    })

    test('while a task is worked on, its updated_at moves with the lease of its job', async () => {
      const made = await open()
      const { command, runs, letGo } = waitingCommand(made)
      const id = await made.create()
      await made.startProcessor({ command })
      await until('it runs', () => runs().length === 1)
      await made.ledger.db
        .updateTable('jobs')
        .set({ lease_until: sql<number>`wharf_now() + ${made.engine.leaseMs + 600_000}` })
        .where('id', '=', id)
        .execute()
      const { createdAt = 0, updatedAt = 0 } = (await made.store.get(id)) ?? {}
      expect(updatedAt - createdAt).toBeGreaterThanOrEqual(600)
      letGo()
      const ended = await untilTask(made, id, 'COMPLETED')
      expect((ended?.updatedAt ?? 0) - createdAt).toBeLessThan(600)
    })

    test('a worker that lost its job can neither show a result nor end the task', async () => {
      const made = await open()
      const { command, runs, letGo } = waitingCommand(made)
      const id = await made.create()
      await made.startProcessor({ command })
      await until('it runs', () => runs().length === 1)
      await made.ledger.db
        .updateTable('jobs')
        .set({ fence: sql<number>`fence + 1`, lease_until: sql<number>`wharf_now() + 600000` })
        .where('id', '=', id)
        .execute()
      letGo()
      const folder = join(made.handOff.storage, id)
      await until('what it wrote is gone', () => !readdirSync(folder).some((file) => file.startsWith('.')))
      expect(readdirSync(folder)).toEqual(['original.mov'])
      expect((await made.store.get(id))?.status).toBe('PROCESSING')
    })

    test('the result of a task that was cancelled as it ended is not shown, and it stays FAILED', async () => {
      const made = await open()
      const id = await made.create()
      const change = made.rows.changeIn.bind(made.rows)
      vi.spyOn(made.rows, 'changeIn').mockImplementation(async (tx, task, set, from) => {
        // The bus is late: the record alone says that the task was cancelled.
        if (Object.keys(set).length === 0)
          await change(tx, task, { status: 'FAILED', error_message: '任务已取消' })
        return change(tx, task, set, from)
      })
      await made.startProcessor({})
      const task = await untilTask(made, id, 'FAILED')
      expect(task).toMatchObject({ errorMessage: '任务已取消', resultPath: '' })
      expect(existsSync(join(made.handOff.storage, id, 'result.mp4'))).toBe(false)
    })

    test('a forgotten task leaves no job that could run', async () => {
      const made = await open()
      const id = await made.create()
      await made.store.remove(tryOf((await made.rows.get(id))!))
      expect((await made.engine.jobs.job(id))?.state).toBe('cancelled')
      const { command, runs, letGo } = waitingCommand(made)
      letGo()
      await made.startProcessor({ command })
      const next = await made.create()
      await untilTask(made, next, 'COMPLETED')
      expect(runs()).toEqual([next])
    })

    test('tasks of a ledger that knew no jobs of theirs go on in their order, also one that was running', async () => {
      const made = await open()
      const { db } = made.ledger
      const ids = [await made.create(), await made.create(), await made.create(), await made.create()]
      // As the version before left them: rows alone, their order that of `queued_at`.
      await db.deleteFrom('jobs').execute()
      const order = [ids[2], ids[0], ids[3], ids[1]] as string[]
      for (const [at, id] of order.entries())
        await db
          .updateTable('processing_tasks')
          .set({ queued_at: 1_000 + at })
          .where('id', '=', id)
          .execute()
      await db
        .updateTable('processing_tasks')
        .set({ status: 'PROCESSING' })
        .where('id', '=', order[0] ?? '')
        .execute()
      const { command, runs, letGo } = waitingCommand(made)
      letGo()
      await made.startProcessor({ command })
      for (const id of ids) await untilTask(made, id, 'COMPLETED')
      expect(runs()).toEqual(order)
    })
  },
)
