import type { Domain, Ground } from '../domain/index.ts'
import { FileRecords } from './accounts/file-records.ts'
import { RunCleaner } from './run-cleaner.ts'
import { RUN_KIND, runKind } from './run-kind.ts'
import { RunStore } from './run-store.ts'
import { Runner, type RunnerOptions } from './runner.ts'
import { Runs } from './runs.ts'
import { runsToNotice } from './runs-to-notice.ts'

/** How often the leader looks for cancelled runs that were not cleaned up. */
const CLEAN_EVERY_MS = 60_000

/** "Fetch all files of this account." */
export async function openRuns(
  { ledger, tenancy: { sealer }, ...ground }: Ground,
  options: RunnerOptions,
): Promise<Domain<Runs>> {
  const runs = new RunStore(ledger)
  const records = new FileRecords(ledger)
  const cleaner = new RunCleaner({ runs, records }, options)
  const runner = new Runner({ ...ground, sealer, records, runs, cleaner }, options)
  const api = new Runs({ ...ground, ledger, sealer, runs, records, cleaner }, options)
  return {
    name: 'runs',
    api,
    kinds: [runKind(runner, runs)],
    duties: [{ duty: cleaner, everyMs: CLEAN_EVERY_MS, runs: 'leader' }],
    views: { [RUN_KIND]: { get: (runId) => api.run(runId) } },
    overview: { kind: RUN_KIND, attention: () => runsToNotice(ledger) },
    stop: () => undefined,
  }
}
