import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startFeed } from '../../runs/feed-server.ts'
import { openBackend } from '../../support/backends.ts'
import { startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'
import { until } from '../../support/until.ts'

/** Waits for what others are writing at this moment, but not for one that is itself held up until this has ended. */
const PROBE = `do $$ begin
  perform 1 from lanes order by name for no key update;
  perform 1 from projects order by id for no key update;
end $$`

/**
 * Before each message that a client sends inside a transaction, checks that the rows which many wait for are free: were
 * it stopped now, nobody would wait for it.
 */
async function watchHotRows(url: string, waitMs: number): Promise<{ held: string[]; checks(): number }> {
  const probe = new pg.Client({ connectionString: url, lock_timeout: waitMs })
  await probe.connect()
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const held: string[] = []
  let checks = 0
  let probed = Promise.resolve<unknown>(undefined)
  const check = (text: string) => {
    checks++
    probed = probed.then(() => (query.call(probe, PROBE) as Promise<unknown>).catch(() => held.push(text)))
    return probed
  }
  Object.assign(pg.Client.prototype, {
    query(this: pg.Client & { getTransactionStatus(): string | null }, ...args: unknown[]) {
      if (this === probe || this.getTransactionStatus() !== 'T') return query.apply(this, args)
      return check(typeof args[0] === 'string' ? args[0] : 'several statements').then(() =>
        query.apply(this, args),
      )
    },
  })
  onTestFinished(async () => {
    Object.assign(pg.Client.prototype, { query })
    await probe.end()
  })
  return { held, checks: () => checks }
}

/** A server that ends no transaction of a silent client: what is held stays held. */
async function setup(env: Record<string, string> = {}) {
  const backend = await openBackend('postgres + redis')
  const url = String(backend.env.DATABASE_URL)
  const patient = `${url}?idle_in_transaction_session_timeout=600000&lock_timeout=600000`
  const wharf = await startExports('postgres + redis', { backend, env: { ...env, DATABASE_URL: patient } })
  onTestFinished(() => backend.remove())
  return { ...wharf, url }
}

describe.runIf(inject('postgresUrl') && inject('redisUrl'))('rows that many wait for', () => {
  test('are held by no client between two messages, whatever is asked of the server', async () => {
    const { client, business, ask, url, engine } = await setup({ WHARF_EXPORT_CONCURRENCY: '1' })
    const hotRows = await watchHotRows(url, 20_000)
    const admin = async (method: string, path: string, body?: unknown) => {
      const answer = await ask(method, path, { key: ADMIN_TOKEN, ...(body !== undefined && { body }) })
      return (await answer.json()) as Record<string, unknown>
    }

    const source = business.source({ total: 50 })
    source.holdFrom(0)
    const body = { source_url: source.url, callback: business.receiver().url }
    const first = await client.start(body, { 'idempotency-key': 'once' })
    await source.untilHeld()
    const waiting = await client.start({ ...body, fresh: true })
    const joined = await client.start({ ...body, source_url: business.source().url })
    await client.start({ ...body, source_url: business.source().url })
    expect((await ask('DELETE', `/api/exports/${waiting.task_id}`, { key: client.project.key })).ok).toBe(
      true,
    )
    source.release()
    for (const { task_id } of [first, joined])
      expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded' })
    expect((await ask('POST', `/api/exports/${waiting.task_id}/retry`, { key: client.project.key })).ok).toBe(
      true,
    )
    expect(await client.ended(waiting.task_id)).toMatchObject({ status: 'succeeded' })

    const feed = await startFeed([{ id: 'a', body: Buffer.from('a') }])
    await admin('PUT', '/api/accounts/ann', { url: feed.url })
    const { run_id } = await admin('POST', '/api/runs', { handle: 'ann', kind: 'start' })
    await admin('PUT', '/api/settings/max_concurrent', { value: 2 })
    await until('the run has ended', async () => (await admin('GET', `/api/runs/${run_id}`)).state === 'Done')
    await until('nothing is left to do', async () => {
      const { rows } = await sql<{ left: number }>`select count(*) as left from jobs
        where state in ('waiting', 'pending', 'running')`.execute(engine.ledger.db)
      return Number(rows[0]?.left) === 0
    })
    expect(hotRows.held).toEqual([])
    expect(hotRows.checks()).toBeGreaterThan(20)
  })

  test('a client that did hold one would be seen', async () => {
    const { engine, url } = await setup()
    const hotRows = await watchHotRows(url, 200)
    await engine.ledger.transaction(async ({ db }) => {
      await db.selectFrom('lanes').select('name').forNoKeyUpdate().execute()
      await sql`select 'after'`.execute(db)
    })
    expect(hotRows.held).toContain("select 'after'")
  })
})
