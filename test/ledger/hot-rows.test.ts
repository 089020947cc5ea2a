import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { MixedLoad, processorCommand } from '../history/mixed-load.ts'
import { openBackend } from '../support/backends.ts'
import { newProject, startHttp } from '../support/http.ts'

/** Waits for what others are writing at this moment, but not for one that is itself held up until this has ended. */
const PROBE = `do $$ begin
  perform 1 from lanes order by name for no key update;
  perform 1 from projects order by id for no key update;
  perform 1 from project_usage order by project_id for no key update;
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
  const wharf = await startHttp('postgres + redis', { backend, env: { ...env, DATABASE_URL: patient } })
  onTestFinished(() => backend.remove())
  return { ...wharf, url }
}

describe.runIf(inject('postgresUrl') && inject('redisUrl'))('rows that many wait for', () => {
  test('are held by no client between two messages, whatever is asked of the server', async () => {
    const wharf = await setup({
      COLLECT_WINDOW_SECONDS: '1',
      PROCESSOR_COMMAND: processorCommand(),
      WHARF_LEASE_SECONDS: '5',
    })
    const load = new MixedLoad(wharf, await newProject(wharf))
    const hotRows = await watchHotRows(wharf.url, 20_000)
    await load.run()
    expect(await load.unasked(), 'routes that the mixed load leaves out').toEqual([])
    expect(hotRows.held).toEqual([])
    expect(hotRows.checks()).toBeGreaterThan(50)
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
