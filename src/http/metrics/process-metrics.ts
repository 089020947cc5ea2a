import type { Registry } from 'prom-client'
import eventLoopLag from 'prom-client/lib/metrics/eventLoopLag.js'
import gc from 'prom-client/lib/metrics/gc.js'
import heap from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import memory from 'prom-client/lib/metrics/osMemoryHeap.js'
import mostFiles from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import openFiles from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import startTime from 'prom-client/lib/metrics/processStartTime.js'
import version from 'prom-client/lib/metrics/version.js'
import type { MetricSet } from '../../kernel/index.ts'

/** How often the event loop is looked at, in milliseconds. */
const PRECISION = 10

/**
 * What prom-client tells of a process, without the gauges whose names end in `_total` (promtool refuses them), and with
 * the processor time measured here (prom-client's own loads OpenTelemetry).
 */
export function addProcessMetrics(set: MetricSet): void {
  const registry: Registry = set.registry
  for (const add of [gc, heap, memory, mostFiles, openFiles, startTime, version]) add(registry)
  eventLoopLag(registry, { eventLoopMonitoringPrecision: PRECISION })
  for (const [mode, name] of [
    ['user', 'process_cpu_user_seconds_total'],
    ['system', 'process_cpu_system_seconds_total'],
  ] as const)
    set.counter(name, `Processor time of this process in ${mode} mode`, [], (counter) => {
      counter.reset()
      counter.inc(process.cpuUsage()[mode] / 1e6)
    })
}
