import { expect, test } from 'vitest'
import { FileRecords } from '../../src/runs/accounts/file-records.ts'
import { RunCleaner } from '../../src/runs/run-cleaner.ts'
import { RunStore } from '../../src/runs/run-store.ts'
import { bodyOf, startFeed } from './feed-server.ts'
import { setupRuns } from './runs-setup.ts'

test('a cancelled run that has not ended is looked at again soon, and cleaned once it has', async () => {
  const feed = await startFeed([{ id: 'a', body: bodyOf('a', 10) }])
  const { folder, instance } = await setupRuns('embedded')
  const wharf = await instance({}, { slots: { runs: 0 }, sole: false })
  const { ledger } = wharf.engine
  const cleaner = new RunCleaner({ runs: new RunStore(ledger), records: new FileRecords(ledger) }, { folder })
  const pass = () => cleaner.runOnce(new AbortController().signal)
  await wharf.put('ann', feed.url)
  const runId = await wharf.start('ann')
  // As a crash leaves it: a worker that is gone holds the run, and its lease has not run out.
  await ledger.db
    .updateTable('jobs')
    .set({ state: 'running', worker: 'gone', fence: 1, started_at: 1, lease_until: Date.now() + 3_600_000 })
    .execute()
  expect(await pass()).toEqual({ cleaned: 0 })
  await wharf.cancel(runId, 'delete')
  expect(await pass()).toEqual({ cleaned: 0, nextInMs: 1_000 })
  await ledger.db.updateTable('jobs').set({ lease_until: 0 }).execute()
  await wharf.engine.overdue.runOnce(new AbortController().signal)
  expect(await pass()).toEqual({ cleaned: 1 })
  expect(await pass()).toEqual({ cleaned: 0 })
})
