import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { availableBackends, scaledOut } from '../support/backends.ts'
import { loseCommit } from '../support/lost-commit.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { fillDisk, smallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'
import { contents, makeFiles } from './feed-files.ts'
import { bodyOf, startFeed } from './feed-server.ts'
import { setupRuns } from './runs-setup.ts'

test.runIf(availableBackends().length > 1)('a run goes on after a restart of PostgreSQL', async () => {
  const postgres = await startPostgres({ fsync: false })
  if (!postgres) throw new Error('PostgreSQL is there, or this test is skipped')
  onTestFinished(() => postgres.remove())
  const { instance, files } = await setupRuns(await scaledOut({ postgresUrl: postgres.url }))
  const one = await instance({}, { leaseMs: 6_000 })
  const all = makeFiles(30)
  const feed = await startFeed(all, { pageSize: 10 })
  // The ledger goes away while the second page is asked for: what to do with its files cannot be looked up.
  let asked: () => void = () => undefined
  const second = new Promise<void>((resolve) => (asked = resolve))
  let goOn: () => void = () => undefined
  const restarted = new Promise<void>((resolve) => (goOn = resolve))
  feed.answerPages(async (page) => {
    if (page !== 1) return false
    asked()
    await restarted
    return false
  })
  await one.put('ann', feed.url)
  const runId = await one.start('ann')
  await second
  await postgres.stop()
  goOn()
  await until('the ledger is away', async () => (await one.engine.ledger.ping()) !== true)
  await postgres.start()
  const run = await until('the run has ended', async () => {
    const found = await one.runs.run(runId).catch(() => undefined)
    return found?.finished_at !== null && found
  })
  expect(run).toMatchObject({ state: 'Done', error: null, progress: { failed: 0 } })
  expect(files('ann')).toEqual(contents(all))
})

test.each(availableBackends())('a run waits for room on a full disk (%s)', async (name) => {
  const folder = smallDisk(4)
  if (!folder) return console.warn('skipped: needs the right to mount a small tmpfs')
  const { instance } = await setupRuns(name)
  const one = await instance({ folder })
  const body = bodyOf('big', 2_000_000)
  const feed = await startFeed([{ id: 'big', body }])
  await one.put('ann', feed.url)
  const makeRoom = fillDisk(folder, 500_000)
  const runId = await one.start('ann')
  await one.until(({ accounts }) => accounts[0]?.waiting_for?.code === 'STORAGE_FULL')
  expect(await one.account('ann')).toMatchObject({ locked: true, error: null })
  makeRoom()
  expect(await one.ended(runId)).toMatchObject({ state: 'Done', waiting_for: null, progress: { failed: 0 } })
  expect(readFileSync(join(folder, 'ann', 'big'))).toEqual(body)
})

test.each(availableBackends())(
  'what a run tells its user is told once, although the ledger did not answer (%s)',
  async (name) => {
    const { instance } = await setupRuns(name)
    const one = await instance()
    const [broken, ...others] = makeFiles(3)
    if (broken) broken.fault = (_request, response) => Boolean(response.writeHead(404).end())
    const feed = await startFeed([broken!, ...others])
    await one.put('ann', feed.url)
    const lines = async () => {
      const rows = await one.engine.ledger.db
        .selectFrom('events')
        .select('data')
        .where('type', '=', 'run_log')
        .execute()
      return rows.length
    }
    loseCommit(one.engine.ledger, 'after the commit', async () => (await lines()) > 0)
    expect(await one.whole('ann')).toMatchObject({ state: 'Done', progress: { downloaded: 2, failed: 1 } })
    expect(vi.isMockFunction(one.engine.ledger.transaction), 'a commit was lost').toBe(false)
    expect(await lines()).toBe(1)
  },
)
