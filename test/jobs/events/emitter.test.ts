import { globSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Emitter, EventLog } from '../../../src/jobs/events/index.ts'
import { availableBackends, openBackend } from '../../support/backends.ts'

const event = (type: string) => ({
  type,
  kind: 'k',
  projectId: null,
  taskId: null,
  jobId: null,
  data: { n: 1 },
})

async function setup(name: Parameters<typeof openBackend>[0]) {
  const backend = await openBackend(name)
  const ledger = await backend.openLedger()
  onTestFinished(async () => {
    await ledger.close()
    await backend.remove()
  })
  const notify = vi.fn()
  return { ledger, notify, emitter: new Emitter(ledger, notify), log: new EventLog(ledger) }
}

describe.each(availableBackends())('emitting on %s', (name) => {
  test('a transaction notifies once, after its commit, however many events it appends', async () => {
    const { ledger, notify, emitter, log } = await setup(name)
    await ledger.transaction(async (tx) => {
      await emitter.emit(tx, event('a'), event('b'))
      await emitter.emit(tx, event('c'))
      expect(notify).not.toHaveBeenCalled()
    })
    expect(notify).toHaveBeenCalledTimes(1)
    expect((await log.read(0)).map(({ type, data }) => [type, data])).toEqual(
      ['a', 'b', 'c'].map((type) => [type, { n: 1 }]),
    )
  })

  test('a transaction that is rolled back, or emits nothing, notifies nobody', async () => {
    const { ledger, notify, emitter } = await setup(name)
    const failing = ledger.transaction(async (tx) => {
      await emitter.emit(tx, event('a'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await ledger.transaction((tx) => emitter.emit(tx))
    expect(notify).not.toHaveBeenCalled()
  })

  test('a query emits one event per row', async () => {
    const { ledger, notify, emitter, log } = await setup(name)
    await ledger.transaction(async (tx) => {
      const query = {
        type: sql`'row'`,
        kind: sql`'k'`,
        project_id: sql`r.name`,
        task_id: sql`null`,
        job_id: sql`null`,
        data: sql`'{}'`,
      }
      const rows = sql`from (select 'one' as name union all select 'two' as name) as r`
      await emitter.statement(tx, query, rows).execute(tx.db)
    })
    expect(notify).toHaveBeenCalledTimes(1)
    expect((await log.read(0)).map(({ projectId }) => projectId).sort()).toEqual(['one', 'two'])
  })

  test('a statement that commits by itself notifies when it is through, and not when it fails', async () => {
    const { notify, emitter } = await setup(name)
    await expect(emitter.alone(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(notify).not.toHaveBeenCalled()
    expect(await emitter.alone(async () => 7)).toBe(7)
    expect(notify).toHaveBeenCalledTimes(1)
  })
})

test('nothing but the emitter writes to the event log, and only the engine connects it with the feed', () => {
  const sources = globSync('src/**/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }))
  const having = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
  expect(having(/insertInto\('events'\)|insert into events\b/)).toEqual(['src/jobs/events/emitter.ts'])
  expect(having(/feed\.notify\(/)).toEqual(['src/jobs/engine.ts'])
})
