import { sql } from 'kysely'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { scaledOut, silentLog } from '../support/backends.ts'
import { createDatabase, runSql } from '../support/databases.ts'
import { eventually } from '../support/engines.ts'
import { fleet, submit } from '../support/fleet.ts'
import { ledByHand } from '../support/handlers.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const never = new AbortController().signal
const scaled = inject('postgresUrl') && inject('redisUrl')
const away = { code: 'LEDGER_UNAVAILABLE', retryAfter: expect.any(Number) }

describe.runIf(scaled)('Redis away', () => {
  async function setup(options: { answerMs?: number } = {}) {
    const redis = await startRedis()
    if (!redis) return undefined
    onTestFinished(() => redis.remove())
    return { redis, ...(await fleet(await scaledOut({ redisUrl: redis.url, ...options }))) }
  }

  test('work is still accepted and done, in its turn, and woken directly again when Redis is back', async ({
    skip,
  }) => {
    const ground = await setup()
    if (!ground) return skip('needs the program redis-server')
    const { redis, instance, advance } = ground
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind], { slots: { default: 2 } })
    await redis.stop()
    const accepted: string[] = []
    for (let index = 0; index < 3; index++) accepted.push((await submit(a, 'work')).jobId)
    const late = await submit(a, 'work', { dueAt: (await a.ledger.now()) + 60_000 })
    for (let index = 0; index < 3; index++) {
      const run = await nth(index + 1)
      expect(runs.length - index).toBeLessThanOrEqual(2)
      run.finish()
    }
    expect(runs.map(({ context }) => context.job.id).toSorted()).toEqual(accepted.toSorted())
    await until('all have ended', async () => (await a.engine.jobs.job(accepted[2]!))?.state === 'succeeded')
    expect(await a.engine.jobs.job(late.jobId)).toMatchObject({ state: 'pending' })
    await advance(60_000)
    expect((await nth(4)).context.job.id).toBe(late.jobId)
    runs[3]?.finish()

    await redis.start()
    await until('Redis is back', () => a.dispatcher.forgot().catch(() => false))
    const next = await submit(a, 'work')
    expect((await nth(5)).context.job.id).toBe(next.jobId)
    runs[4]?.finish()
    for (const id of [...accepted, late.jobId])
      expect(await a.engine.jobs.job(id)).toMatchObject({ fence: 1 })
  })

  test('what Redis has forgotten is published again without waiting until it is overdue', async ({
    skip,
  }) => {
    const ground = await setup()
    if (!ground) return skip('needs the program redis-server')
    const { redis, instance } = ground
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind], { works: false })
    const now = await submit(a, 'work')
    const later = await submit(a, 'work', { dueAt: (await a.ledger.now()) + 60_000 })
    await redis.stop()
    await redis.start()
    a.dispatcher.published.length = 0
    await until('everything was published again', () =>
      a.engine.overdue.runOnce(never).then(
        ({ published }) => published === 2,
        () => false,
      ),
    )
    expect(a.dispatcher.published.slice(-2).toSorted((x, y) => x.delayMs - y.delayMs)).toEqual([
      { id: now.jobId, pool: 'default', delayMs: 0 },
      { id: later.jobId, pool: 'default', delayMs: 60_000 },
    ])
    await instance([kind])
    expect((await nth(1)).context.job.id).toBe(now.jobId)
    runs[0]?.finish()
  })

  test('a Redis that hangs keeps the leader from nothing', async ({ skip }) => {
    const ground = await setup({ answerMs: 2_000 })
    if (!ground) return skip('needs the program redis-server')
    const { redis, instance, advance } = ground
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    await nth(1)
    redis.hang()
    await advance(3_600_000)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ reclaimed: 1 })
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'pending' })
    const accepted = await submit(a, 'work')
    redis.goOn()
    await advance(3_600_000)
    // One that was taken from the ledger before the time went on has lost its lease by that, and begins once more.
    const again = () => new Set(runs.slice(1).map(({ context }) => context.job.id))
    await until('the backlog flows', () =>
      a.engine.overdue.runOnce(never).then(
        () => again().size === 2,
        () => false,
      ),
    )
    expect(again()).toEqual(new Set([jobId, accepted.jobId]))
    for (const run of runs) run.finish()
  })

  test('a running job goes on and ends well', async ({ skip }) => {
    const ground = await setup()
    if (!ground) return skip('needs the program redis-server')
    const { redis, instance } = ground
    const { kind, nth } = ledByHand('work')
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    const run = await nth(1)
    await redis.stop()
    await run.context.transaction(async () => undefined)
    run.finish('done')
    await eventually(a.engine, ({ type }) => type === 'work.succeeded')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ result: 'done' })
    await redis.start()
  })
})

describe.runIf(scaled)('PostgreSQL away', () => {
  async function setup() {
    const postgres = await startPostgres({ fsync: false })
    if (!postgres) return undefined
    onTestFinished(() => postgres.remove())
    return postgres
  }

  test('it is said in one way, running work is not lost, and workers come back by themselves', async ({
    skip,
  }) => {
    const postgres = await setup()
    if (!postgres) return skip('needs the program postgres')
    const { instance, advance } = await fleet(await scaledOut({ postgresUrl: postgres.url }))
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    const run = await nth(1)
    a.dispatcher.loses = true
    const unlucky = await submit(a, 'work')
    a.dispatcher.loses = false

    await postgres.stop()
    await expect(submit(a, 'work')).rejects.toMatchObject(away)
    await expect(a.engine.jobs.job(jobId)).rejects.toMatchObject(away)
    await expect(a.engine.events.read(0)).rejects.toMatchObject(away)
    await expect(a.engine.events.snapshot(async () => null)).rejects.toMatchObject(away)
    await expect(run.context.transaction(async () => undefined)).rejects.toMatchObject(away)
    expect(await a.ledger.ping()).toEqual(expect.any(String))
    // A wake that is taken now is lost, the end of the running job is not.
    await a.engine.worker.take(unlucky.jobId)
    run.finish('done while away')

    await postgres.start()
    await until('the end was written', async () => {
      a.clock.advance(1_000)
      const job = await a.engine.jobs.job(jobId).catch(() => undefined)
      return job?.state === 'succeeded' && job.result === 'done while away'
    })
    const next = await submit(a, 'work')
    expect((await nth(2)).context.job.id).toBe(next.jobId)
    await advance(5_000)
    await a.engine.overdue.runOnce(never)
    expect((await nth(3)).context.job.id).toBe(unlucky.jobId)
    for (const one of runs.slice(1)) one.finish()
    await until('all have ended', async () => (await a.engine.jobs.job(unlucky.jobId))?.state === 'succeeded')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ attempts: 1, fence: 1 })
  })

  test('those who follow events go on when it is back, without a gap', async ({ skip }) => {
    const postgres = await setup()
    if (!postgres) return skip('needs the program postgres')
    const { instance } = await fleet(await scaledOut({ postgresUrl: postgres.url }))
    const a = await instance([])
    const say = () =>
      a.ledger.transaction(async (tx) => {
        const event = { type: 'e', kind: 'k', projectId: null, taskId: null, jobId: null, data: {} }
        await a.engine.emit(tx, event)
      })
    const stop = new AbortController()
    const seen: number[] = []
    const ended = (async () => {
      for await (const events of a.engine.feed.follow(0, {}, stop.signal))
        seen.push(...events.map(({ seq }) => seq))
    })()
    await say()
    await until('the first has arrived', () => seen.length === 1)
    await postgres.stop()
    a.engine.feed.notify()
    await expect(a.engine.feed.open(null, {}, stop.signal)).rejects.toMatchObject(away)
    await postgres.start()
    await until('it is written again', () => say().then(...([() => true, () => false] as const)))
    await until('the second has arrived', () => {
      a.clock.advance(1_000)
      return seen.length === 2
    })
    expect(seen).toEqual([1, 2])
    stop.abort()
    await ended
  })

  test('a transaction that is cut off leaves nothing, and its after-commit actions do not happen', async ({
    skip,
  }) => {
    const postgres = await setup()
    if (!postgres) return skip('needs the program postgres')
    const { instance } = await fleet(await scaledOut({ postgresUrl: postgres.url }))
    const a = await instance([{ name: 'work', run: async () => null }], { works: false })
    let committed = false
    const cut = a.ledger.transaction(async (tx) => {
      tx.afterCommit(() => {
        committed = true
      })
      await a.engine.enqueue(tx, { kind: 'work', payload: 0, tasks: [{}] })
      await postgres.stop()
      await tx.db.selectFrom('jobs').selectAll().execute()
    })
    await expect(cut).rejects.toMatchObject(away)
    await postgres.start()
    await until('the ledger is back', async () => (await a.ledger.ping()) === true)
    expect(await a.ledger.db.selectFrom('jobs').selectAll().execute()).toEqual([])
    expect(committed).toBe(false)
    expect(a.dispatcher.published).toEqual([])
  })

  test('a server that says it is starting, stopping or full counts as away, a mistake of ours does not', async () => {
    const database = await createDatabase()
    const ledger = await openPostgresLedger(database.url, silentLog, { connections: 2 })
    onTestFinished(async () => {
      await ledger.close()
      await database.drop()
    })
    const raise = (state: string) =>
      sql.raw(`do $$ begin raise exception 'as told' using errcode = '${state}'; end $$`).execute(ledger.db)
    for (const state of ['57P01', '57P02', '57P03', '53300', '08006'])
      await expect(raise(state)).rejects.toMatchObject(away)
    for (const state of ['23505', '42P01', '22012'])
      await expect(raise(state)).rejects.toMatchObject({ code: state })
  })

  test('the only instance is still the only one after a restart of the server', async ({ skip }) => {
    const postgres = await setup()
    if (!postgres) return skip('needs the program postgres')
    const open = () => openPostgresLedger(postgres.url, silentLog, { connections: 2, onlyInstance: true })
    const first = await open()
    onTestFinished(() => first.close())
    await postgres.stop()
    await postgres.start()
    const locked = `do $$ begin
      if not exists (select 1 from pg_locks where locktype = 'advisory' and granted) then raise 'free'; end if; end $$`
    await until('the lock is held again', () =>
      runSql(postgres.url, locked).then(
        () => true,
        () => false,
      ),
    )
    await expect(open()).rejects.toMatchObject({ code: 'SINGLE_INSTANCE' })
  })
})
