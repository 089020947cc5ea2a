import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EXPORT_LANE } from '../../src/exports/export-job.ts'
import { availableBackends, openBackend } from '../support/backends.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { ADMIN_TOKEN, type Ask, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'
import { fillWaiting } from '../support/waiting.ts'
import { carryOutOnPostgres } from './postgres-cost.ts'
import { carryOutOnSqlite } from './sqlite-cost.ts'
import { type Carried, collectStatements, shapeOf } from './statement.ts'

const WAITING = { many: 20_000, others: 4_000 }
/** Above what a statement with its triggers needs, and below what any index over those who wait has. PostgreSQL tells rows as well. */
const MOST_PAGES = { embedded: 60, 'postgres + redis': 1_000 }
const MOST_ROWS = 200

/** Not per task: these may read those who wait. */
const ALLOWED: { statement: RegExp; reason: string }[] = [
  { statement: /^with places as .* as position, /, reason: 'a position: it is asked by people' },
  { statement: /^select kind, 0 as running, count/, reason: 'the overview: it is asked by people' },
  {
    statement: /^with recursive owners/,
    reason: 'the leader compares queues with jobs every 15 seconds: a row per owner',
  },
]

describe.each(availableBackends())('with 24,000 waiting exports of 4,001 owners on %s', (name) => {
  test('no statement of a POST, an end or a look of the leader reads those who wait', async () => {
    const backend = await openBackend(name)
    const wharf = await startHttp(name, { backend })
    const { engine, ledger } = wharf
    const business = await BusinessSystem.start()
    const held = business.source({ total: 3 })
    held.holdFrom(1)
    const project = await newProject(wharf)
    const ask = async (method: string, path: string, { key = project.key, ...more }: Ask = {}) => {
      const answer = await wharf.ask(method, path, { key, ...more })
      expect(answer.status, `${method} ${path}`).toBeLessThan(300)
      return answer.status === 204 ? {} : ((await answer.json()) as Record<string, string>)
    }
    const post = (more = {}) =>
      ask('POST', '/api/exports', { body: { source_url: held.url, fresh: true, ...more } })
    const running = [await post(), await post()]
    await fillWaiting(engine, WAITING)
    const collected = collectStatements()
    for (const priority of ['scheduled', 'interactive']) await post({ priority })
    const { task_id } = await post()
    await ask('GET', `/api/exports/${task_id}`)
    await ask('GET', `/api/exports/${task_id}/position`)
    await ask('DELETE', `/api/exports/${task_id}`)
    await engine.lanes.othersWait(EXPORT_LANE, project.id)
    held.release()
    for (const task of running)
      await until('it has ended', async () => {
        const { status } = await ask('GET', `/api/exports/${task.task_id}`)
        return status === 'succeeded'
      })
    await ledger.transaction((tx) => engine.setLaneShare(tx, EXPORT_LANE, project.id, 3))
    await ledger.transaction((tx) => engine.lanes.ripen(tx, () => undefined))
    await engine.overdue.runOnce(new AbortController().signal)
    for (const path of ['/api/overview', '/api/exports?limit=20&status=pending'])
      await ask('GET', path, { key: ADMIN_TOKEN })
    const statements = collected()
    await wharf.stop()
    // Carried out again, an admission finds one free place.
    const reopened = await backend.openLedger()
    const change = reopened.db.updateTable('lanes').where('name', '=', EXPORT_LANE)
    await change.set({ max_running: ({ eb }) => eb('max_running', '+', 1) }).execute()
    await reopened.close()
    const carried =
      name === 'embedded'
        ? carryOutOnSqlite(join(wharf.config.WHARF_DATA_DIR, 'ledger.db'), statements)
        : await carryOutOnPostgres(backend.env.DATABASE_URL ?? '', statements, ({ rows }) => rows > MOST_ROWS)
    await backend.remove()
    const dear = carried.filter(({ scans, pages }) => scans.length > 0 || pages > MOST_PAGES[name])
    expect(dear.filter((statement) => !isAllowed(statement)).map(told)).toEqual([])
  })
})

function isAllowed({ sql }: Carried): boolean {
  return ALLOWED.some(({ statement }) => statement.test(shapeOf(sql)))
}

function told({ sql, scans, pages }: Carried): string {
  return `${[...scans, `${pages} pages`].join(', ')}: ${shapeOf(sql)}`
}
