import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { availableBackends, openBackend } from '../support/backends.ts'
import { fillHistory, reopenSome } from '../support/history.ts'
import { newProject, startHttp } from '../support/http.ts'
import { ALLOWED } from './allowed.ts'
import { MixedLoad, processorCommand } from './mixed-load.ts'
import { carryOutOnPostgres } from './postgres-cost.ts'
import { carryOutOnSqlite } from './sqlite-cost.ts'
import { type Carried, collectStatements, shapeOf } from './statement.ts'

const FINISHED_JOBS = 100_000
/**
 * A page of a list takes up to a hundred, the smallest index over history several hundred. PostgreSQL counts a page each
 * time that it is looked at.
 */
const MOST_PAGES = { embedded: 200, 'postgres + redis': 600 }

const backends = availableBackends()

describe.each(backends)('with 100,000 finished jobs on %s', (name) => {
  test('every statement reads what it needs, and no growing table from end to end', async () => {
    const { wharf, project, stop } = await serve(name)
    const load = new MixedLoad(wharf, project)
    await load.run()
    expect(await load.unasked(), 'routes that the mixed load leaves out').toEqual([])
    const carried = await stop()
    const faults = carried.filter(
      (statement) => isDear(statement, MOST_PAGES[name]) && !allowanceOf(statement),
    )
    expect(faults.map(told)).toEqual([])
  })
})

const used = new Set<string>()

afterAll(() => {
  // An entry that no statement needs any more would let the next scan in.
  if (backends.length > 1) expect(ALLOWED.filter(({ reason }) => !used.has(reason))).toEqual([])
})

/** A server that starts on a full ledger, so that what it sends at its start and by its duties has true parameters. */
async function serve(name: (typeof backends)[number]) {
  const backend = await openBackend(name)
  const env = {
    COLLECT_WINDOW_SECONDS: '1',
    PROCESSOR_COMMAND: processorCommand(),
    WHARF_LEASE_SECONDS: '5',
  }
  const before = await startHttp(name, { backend, env })
  const project = await newProject(before)
  const others = [await newProject(before), await newProject(before)]
  await before.stop()
  const ledger = await backend.openLedger()
  await fillHistory(ledger, { to: FINISHED_JOBS, projects: [project.id, ...others.map(({ id }) => id)] })
  await ledger.close()
  const collected = collectStatements()
  const wharf = await startHttp(name, { backend, env })
  const stop = async (): Promise<Carried[]> => {
    const statements = collected()
    await wharf.stop()
    const reopened = await backend.openLedger()
    await reopenSome(reopened)
    await reopened.close()
    const carried =
      name === 'embedded'
        ? carryOutOnSqlite(join(wharf.config.WHARF_DATA_DIR, 'ledger.db'), statements)
        : await carryOutOnPostgres(backend.env.DATABASE_URL ?? '', statements)
    await backend.remove()
    return carried
  }
  return { wharf, project, stop }
}

function isDear({ scans, pages }: Carried, mostPages: number): boolean {
  return scans.length > 0 || pages > mostPages
}

function allowanceOf({ sql }: Carried) {
  const shape = shapeOf(sql)
  const found = ALLOWED.find(({ statement }) => statement.test(shape))
  if (found) used.add(found.reason)
  return found
}

function told({ sql, parameters, scans, pages }: Carried): string {
  return `${[...scans, `${pages} pages`].join(', ')}: ${shapeOf(sql)} ${JSON.stringify(parameters).slice(0, 300)}`
}
