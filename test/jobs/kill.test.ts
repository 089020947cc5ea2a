import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { EventLog } from '../../src/jobs/events/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { availableBackends, type Backend, type BackendName, openBackend } from '../support/backends.ts'
import { end, spawnBound } from '../support/bound-process.ts'
import { until } from '../support/until.ts'

const PROGRAM = new URL('../support/kill-worker.ts', import.meta.url).pathname
const KILLS = 20

interface Process {
  child: ChildProcess
  /** How many jobs it has accepted so far. */
  accepted: number
  /** Lets it begin, and resolves when it works. */
  begin(): Promise<void>
}

/** Starts processes that note down what they accepted for as long as they live. */
function spawner(backend: Backend, accepted: Set<string>) {
  return (accept: boolean): Process => {
    const child = spawnBound(process.execPath, [PROGRAM], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...backend.env, ACCEPT: accept ? '1' : '0' },
    })
    onTestFinished(() => end(child, 'SIGKILL'))
    const self = { child, accepted: 0 }
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    const ready = Promise.withResolvers<void>()
    lines.on('line', (line) => {
      if (line === 'ready') ready.resolve()
      const [word, jobId] = line.split(' ')
      if (word !== 'accepted' || !jobId) return
      accepted.add(jobId)
      self.accepted++
    })
    child.once('exit', () => ready.reject(new Error('the process ended before it was ready')))
    ready.promise.catch(() => undefined)
    const begin = () => {
      child.stdin?.write('go\n')
      return ready.promise
    }
    return Object.assign(self, { begin })
  }
}

async function setup(name: BackendName) {
  const backend = await openBackend(name)
  onTestFinished(() => backend.remove())
  const ledger = await backend.openLedger()
  const serial = ledger.dialect === 'postgres' ? 'bigserial' : 'integer'
  await sql
    .raw(`create table kill_notes (n ${serial} primary key, job text not null, fence integer not null)`)
    .execute(ledger.db)
  await ledger.close()
  const accepted = new Set<string>()
  return { backend, accepted, start: spawner(backend, accepted) }
}

/** Whatever the clients were told and whatever a stale worker tried, the ledger must come out like this. */
async function checkLedger(ledger: Ledger, accepted: Set<string>): Promise<void> {
  const jobs = await ledger.db
    .selectFrom('jobs')
    .select(['id', 'state', 'fence', 'result', 'payload'])
    .execute()
  const known = new Map(jobs.map((job) => [job.id, job]))
  expect([...accepted].filter((id) => !known.has(id))).toEqual([])
  expect(jobs.filter(({ state }) => state !== 'succeeded')).toEqual([])
  expect(jobs.filter(({ result, payload }) => result !== payload)).toEqual([])

  const ends = new Map<string, number>()
  const log = new EventLog(ledger)
  for (let after = 0, page = await log.read(after); page.length > 0; page = await log.read(after)) {
    for (const { type, jobId } of page)
      if (type === 'kill.succeeded') ends.set(jobId as string, (ends.get(jobId as string) ?? 0) + 1)
    after = page.at(-1)?.seq as number
  }
  expect([...known.keys()].filter((id) => ends.get(id) !== 1)).toEqual([])

  const { rows } = await sql<{
    job: string
    fence: number
  }>`select job, fence from kill_notes order by n`.execute(ledger.db)
  const fences = Map.groupBy(rows, ({ job }) => job)
  for (const { id, fence } of jobs) {
    const written = (fences.get(id) ?? []).map((run) => run.fence)
    // Never a lower fence after a higher one, and both notes of the run that ended the job.
    expect(written).toEqual(written.toSorted((a, b) => a - b))
    expect(written.slice(-2)).toEqual([fence, fence])
    expect(written.filter((other) => other === fence)).toHaveLength(2)
  }
}

describe.each(availableBackends())('killed processes on %s', (name) => {
  test(`after ${KILLS} kills at random moments every accepted job is done exactly once`, async () => {
    const { backend, accepted, start } = await setup(name)
    const size = backend.shared ? 2 : 1
    // The next ones are loaded while the present ones work.
    const standby = Array.from({ length: 2 }, () => start(true))
    const next = async () => {
      const fresh = standby.shift() as Process
      standby.push(start(true))
      await fresh.begin()
      return fresh
    }
    const crew: Process[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      while (crew.length < size) crew.push(await next())
      const [victim] = crew.splice(kill % size, 1) as [Process]
      const some = victim.accepted + Math.floor(Math.random() * 10)
      await until('it has accepted some work', () => victim.accepted >= some)
      // Not a wait, but a random moment between two steps of the victim.
      await delay(Math.random() * 20)
      await end(victim.child, 'SIGKILL')
    }
    for (const { child } of [...crew, ...standby]) await end(child, 'SIGKILL')
    expect(accepted.size).toBeGreaterThan(KILLS)

    const survivors = Array.from({ length: size }, () => start(false))
    await Promise.all(survivors.map((survivor) => survivor.begin()))
    const done = await watch(backend, survivors)
    await checkLedger(done, accepted)
    await done.close()
  })
})

/** Waits until nothing is left to do. A data dir has one process at a time, so there the file itself is read. */
async function watch(backend: Backend, survivors: Process[]): Promise<Ledger> {
  if (backend.shared) {
    const ledger = await backend.openLedger()
    await until('all work is done', async () => (await unfinished(ledger)) === 0)
    for (const { child } of survivors) await end(child, 'SIGKILL')
    return ledger
  }
  const { DatabaseSync } = await import('node:sqlite')
  const file = new DatabaseSync(`${backend.env.WHARF_DATA_DIR}/ledger.db`, { readOnly: true })
  const open = file.prepare(`select count(*) as n from jobs where state in ('waiting', 'pending', 'running')`)
  await until('all work is done', () => open.get()?.n === 0)
  file.close()
  for (const { child } of survivors) await end(child, 'SIGKILL')
  return backend.openLedger()
}

async function unfinished(ledger: Ledger): Promise<number> {
  const rows = await ledger.db
    .selectFrom('jobs')
    .select('id')
    .where('state', 'in', ['waiting', 'pending', 'running'])
    .execute()
  return rows.length
}
