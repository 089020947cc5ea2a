import type { MetricSet } from '../../kernel/index.ts'
import type { LedgerReader, LedgerState } from './ledger-state.ts'

/** The queues as the ledger has them: the same on every instance. */
export function addLedgerMetrics(set: MetricSet, ledger: LedgerReader): void {
  const work: ('domain' | 'kind')[] = ['domain', 'kind']
  set.gauge('wharf_ledger_up', '1 if the ledger answered this scrape', [], async (gauge) =>
    gauge.set((await ledger.read()).up ? 1 : 0),
  )
  set.gauge(
    'wharf_jobs',
    'Jobs that have not ended, over all instances, by state',
    [...work, 'state'],
    async (gauge) => {
      gauge.reset()
      for (const { domain, kind, state, count } of (await ledger.read()).work)
        gauge.set({ domain, kind, state }, count)
    },
  )
  set.gauge(
    'wharf_oldest_job_seconds',
    'How long the oldest job in the queue is due, over all instances; missing where the limit is 0',
    work,
    async (gauge) => {
      gauge.reset()
      for (const { domain, kind, seconds } of oldest(await ledger.read()))
        gauge.set({ domain, kind }, seconds)
    },
  )
  set.gauge(
    'wharf_jobs_limit',
    'Jobs that may be under way at once over all instances; missing where there is no limit',
    work,
    async (gauge) => {
      gauge.reset()
      for (const { domain, kind, limit } of (await ledger.read()).limits) gauge.set({ domain, kind }, limit)
    },
  )
  set.gauge(
    'wharf_last_backup_timestamp_seconds',
    'When `wharf backup` last ended; 0 before the first',
    [],
    async (gauge) => gauge.set(((await ledger.read()).lastBackupMs ?? 0) / 1_000),
  )
}

/** A job may wait for its lane or for a worker; the older of the two counts. Work that was switched off is not late. */
function oldest({ work, limits }: LedgerState): { domain: string; kind: string; seconds: number }[] {
  const off = new Set(limits.flatMap(({ kind, limit }) => (limit === 0 ? [kind] : [])))
  const queued = Map.groupBy(
    work.filter(({ kind, state }) => state !== 'running' && !off.has(kind)),
    ({ kind }) => kind,
  )
  return [...queued.values()].flatMap((rows) => {
    const [first] = rows
    const seconds = Math.max(...rows.map(({ oldestMs }) => oldestMs)) / 1_000
    return first ? [{ domain: first.domain, kind: first.kind, seconds }] : []
  })
}
