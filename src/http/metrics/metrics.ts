import { MetricSet, processMetrics } from '../../kernel/index.ts'
import { addDiskMetrics } from './disk-metrics.ts'
import { addLedgerMetrics } from './ledger-metrics.ts'
import { LedgerReader, type LedgerStateDeps } from './ledger-state.ts'
import { addProcessMetrics } from './process-metrics.ts'

export interface MetricsOptions {
  version: string
  /** Folders whose disks are told of. */
  folders: Record<string, string>
}

/**
 * What `/metrics` tells: what the process has counted, and the state of this server and of the ledger at the time of the
 * scrape. A ledger that is away costs its own lines, never the scrape.
 */
export class Metrics {
  readonly contentType = processMetrics.contentType
  readonly requests
  readonly problems
  readonly watchers
  readonly watchersDropped
  readonly #set = new MetricSet()

  constructor(deps: LedgerStateDeps, { version, folders }: MetricsOptions) {
    const set = this.#set
    this.requests = set.histogram(
      'wharf_http_request_duration_seconds',
      'Time to answer, by route',
      [0.005, 0.02, 0.1, 0.5, 2, 10],
      ['method', 'route', 'status'],
    )
    this.problems = set.counter('wharf_problems_total', 'Errors answered, by code', ['code'])
    this.watchers = set.gauge('wharf_watchers', 'Open event streams, by transport', ['transport'])
    this.watchersDropped = set.counter(
      'wharf_watchers_dropped_total',
      'Event streams that were ended because their reader was too slow, by transport',
      ['transport'],
    )
    set.gauge('wharf_build_info', 'Always 1; its label is the version', ['version']).set({ version }, 1)
    set.gauge('wharf_leader', '1 on the instance that leads, 0 on the others', [], (gauge) =>
      gauge.set(deps.engine.leadership.leads ? 1 : 0),
    )
    addLedgerMetrics(set, new LedgerReader(deps))
    addDiskMetrics(set, folders)
    addProcessMetrics(set)
  }

  async read(): Promise<string> {
    return `${await processMetrics.metrics()}\n${await this.#set.registry.metrics()}`
  }
}
