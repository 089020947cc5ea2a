import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { loadSqlite } from '../../src/ledger/copy/load-sqlite.ts'
import { loadPostgres, type Row } from '../../src/ledger/index.ts'
import { readMigrations } from '../../src/ledger/migrate.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { availableBackends, type BackendName, silentLog } from '../support/backends.ts'
import { BusinessSystem, sendJson } from '../support/business-system.ts'
import { runSql } from '../support/databases.ts'
import { ExportClient } from '../support/export-client.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { emptyMachine, serveOn } from '../support/machines.ts'
import { until } from '../support/until.ts'

interface Fixture {
  made_at: number
  key: string
  work: { done: string; held: string; queued: string; run: string; transfer: string; task: string }
  tables: Record<string, Row[]>
  files: Record<string, string>
}

/** The newest migration of version 0.1.0. */
const SCHEMA = 9
const [EARLIEST, LATEST] = [1.5e12, 3e12]
/** By then the leases of the killed server have run out. */
const LEASES_MS = 40_000

/** Puts down what version 0.1.0 has left, as if it had been killed a moment ago; see scripts/make-old-ledger.ts. */
async function leaveAsOld(name: BackendName, env: Record<string, string>, origin: string): Promise<Fixture> {
  const file = name === 'embedded' ? 'embedded.json' : 'postgres.json'
  const folder = env.WHARF_DATA_DIR ?? ''
  const text = readFileSync(new URL(`../fixtures/0.1.0/${file}`, import.meta.url), 'utf8')
  const fixture = JSON.parse(text.replaceAll('@DATA@', folder).replaceAll('@BUSINESS@', origin)) as Fixture
  const later = Date.now() - fixture.made_at - LEASES_MS
  const moved = (value: Row[string]) =>
    typeof value === 'number' && value > EARLIEST && value < LATEST ? value + later : value
  const copy = {
    schema: SCHEMA,
    tables: Object.keys(fixture.tables),
    rows: (table: string) =>
      (fixture.tables[table] ?? []).map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, moved(value)])),
      ),
  }
  const migrations = readMigrations().filter(({ version }) => version <= SCHEMA)
  if (env.DATABASE_URL === undefined) await loadSqlite(folder, copy, systemClock, migrations)
  else {
    const ledger = await openPostgresLedger(env.DATABASE_URL, silentLog, { connections: 1 })
    await loadPostgres(ledger, copy, migrations).finally(() => ledger.close())
  }
  for (const [path, bytes] of Object.entries(fixture.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), Buffer.from(bytes, 'base64'))
  }
  return fixture
}

describe.each(availableBackends())(
  'an installation of version 0.1.0 that was killed at work, on %s',
  (name) => {
    test('is upgraded by starting the new version, and goes on with everything', async () => {
      const business = await BusinessSystem.start()
      const source = business.source({ total: 250 })
      for (const path of ['/source', '/held'])
        business.at(path, (request, response, url) => source.answer(request, response, url))
      business.at('/feed', (_, response) =>
        sendJson(response, { items: [{ id: 'one', url: '/file' }], next_cursor: null }),
      )
      business.at('/file', (_, response) => response.end('a file of an account'))
      let told = 0
      business.at('/told', (_, response) => {
        told++
        response.writeHead(204).end()
      })
      const env: Record<string, string> = { ...(await emptyMachine(name)), WHARF_ADMIN_TOKEN: ADMIN_TOKEN }
      const { key, work } = await leaveAsOld(name, env, business.origin)
      const settings = { ...env, PROCESSOR_COMMAND: 'cp {input} {output}', COLLECT_WINDOW_SECONDS: '1' }
      if (name !== 'embedded') await refusedBesideOld(settings)

      const server = await serveOn(settings)
      const client = new ExportClient(server.ask, { id: '', key, secret: '' })
      expect(await client.lines(work.done)).toHaveLength(251)
      for (const id of [work.held, work.queued])
        expect(await client.ended(id)).toMatchObject({ status: 'succeeded', file: { rows: 250 } })
      await until('the callback that was refused before has come', () => told > 0)
      await until('the run is done', async () => {
        const answer = await server.ask('GET', `/api/runs/${work.run}`, { key: ADMIN_TOKEN })
        return ((await answer.json()) as { state: string }).state === 'Done'
      })
      expect(readFileSync(join(env.WHARF_DATA_DIR ?? '', 'accounts/anna/file'), 'utf8')).toBe(
        'a file of an account',
      )
      const result = await until('the processing task has its result', async () => {
        const answer = await server.ask('GET', `/api/tasks/${work.task}/result`, { key })
        return answer.status === 200 ? answer.text() : undefined
      })
      expect(result).toBe('an upload')
      const transfer = await server.ask('GET', `/api/transfers/${encodeURIComponent(work.transfer)}`, { key })
      expect([transfer.status, ((await transfer.json()) as { task_id: string }).task_id]).toEqual([
        200,
        work.transfer,
      ])
      expect(await client.run({ source_url: source.url })).toMatchObject({ status: 'succeeded' })
    })
  },
)

/** 0.1.0 could not go on after the upgrade, so that one waits until all of it is stopped. */
async function refusedBesideOld(env: Record<string, string>): Promise<void> {
  const url = env.DATABASE_URL ?? ''
  await runSql(
    url,
    `insert into instances (id, host, pid, version, started_at, seen_at)
    values ('old', 'host-of-old', 1, '0.1.0', wharf_now(), wharf_now() + 3600000)`,
  )
  await expect(serveOn(env)).rejects.toThrow(/0\.1\.0 on host-of-old.* stop them all first.*LEDGER_IN_USE/)
  await runSql(url, `delete from instances where id = 'old'`)
}
