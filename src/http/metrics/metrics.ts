import { statfs } from 'node:fs/promises'
import type { Registry } from 'prom-client'
import eventLoopLag from 'prom-client/lib/metrics/eventLoopLag.js'
import gc from 'prom-client/lib/metrics/gc.js'
import heap from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import memory from 'prom-client/lib/metrics/osMemoryHeap.js'
import mostFiles from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import openFiles from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import startTime from 'prom-client/lib/metrics/processStartTime.js'
import nodeVersion from 'prom-client/lib/metrics/version.js'
import { MetricSet, processMetrics } from '../../kernel/index.ts'
import { addLedgerMetrics } from './ledger-metrics.ts'
import { LedgerReader, type LedgerStateDeps } from './ledger-state.ts'

export interface MetricsOptions {
  version: string
  /** Folders whose disks are measured. */
  folders: Record<string, string>
}

/**
 * The content of `/metrics`: what the process has counted, and the state of this server and of the ledger at the time of the
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
    ofProcess ??= measureProcess()
  }

  async read(): Promise<string> {
    const registries = [processMetrics, ofProcess?.registry, this.#set.registry]
    return (await Promise.all(registries.map((registry) => registry?.metrics()))).join('\n')
  }
}

/** Once for all servers of a process: prom-client watches garbage collection and the event loop until the process ends. */
let ofProcess: MetricSet | undefined

/** Free space on the disks of these folders, by a name that is the same on every instance. */
function addDiskMetrics(set: MetricSet, folders: Record<string, string>): void {
  const each = async (report: (folder: string, bytes: { free: number; size: number }) => void) => {
    for (const [name, path] of Object.entries(folders)) {
      const found = await statfs(path).catch(() => undefined)
      if (found) report(name, { free: found.bavail * found.bsize, size: found.blocks * found.bsize })
    }
  }
  set.gauge('wharf_disk_free_bytes', 'Room left for Wharf on the disk of a folder', ['folder'], (gauge) =>
    each((folder, { free }) => gauge.set({ folder }, free)),
  )
  set.gauge('wharf_disk_size_bytes', 'Size of the disk of a folder', ['folder'], (gauge) =>
    each((folder, { size }) => gauge.set({ folder }, size)),
  )
}

/** How often the event loop is looked at, in milliseconds. */
const PRECISION = 10

/**
 * prom-client's metrics of a process, without the gauges whose names end in `_total` (promtool refuses them), and with
 * the processor time measured here (prom-client's own loads OpenTelemetry).
 */
function measureProcess(): MetricSet {
  const set = new MetricSet()
  const registry: Registry = set.registry
  for (const add of [gc, heap, memory, mostFiles, openFiles, startTime, nodeVersion]) add(registry)
  eventLoopLag(registry, { eventLoopMonitoringPrecision: PRECISION })
  for (const [mode, name] of [
    ['user', 'process_cpu_user_seconds_total'],
    ['system', 'process_cpu_system_seconds_total'],
  ] as const)
    set.counter(name, `Processor time of this process in ${mode} mode`, [], (counter) => {
      counter.reset()
      counter.inc(process.cpuUsage()[mode] / 1e6)
    })
  return set
}
