import { join } from 'node:path'
import type { Carriers, FileOf } from '../carriers/index.ts'
import type { Domain, Ground, ScheduledDuty } from '../domain/index.ts'
import { jobsToNotice } from '../jobs/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { TransferMirror } from './mirror/transfer-mirror.ts'
import { FileCache } from './repository/file-cache.ts'
import { Permissions } from './repository/permissions.ts'
import { Repository } from './repository/repository.ts'
import { ScanSpool } from './repository/scan-spool.ts'
import { terminateKind } from './terminate-job.ts'
import { transferKind } from './transfer-job.ts'
import { parseTaskKey, TRANSFER_KIND } from './transfer-keys.ts'
import type { ExportFile } from './transfer-request.ts'
import { Transfers } from './transfers.ts'
import { noTransfer } from './views/transfer-queries.ts'
import { WindowFiles, WindowStore } from './windows/index.ts'

export interface TransfersOptions {
  dataDir: string
  windowSeconds: number
  timeoutSeconds: number
  ttlSeconds: number
  maxFileBytes: number
  /** null: no mirror. */
  redis: { url: string; prefix: string } | null
  carriers(fileOf: FileOf): Promise<Carriers>
  /** A finished export's file, or the reason why there is none. */
  exportFile(taskId: string): Promise<ExportFile>
}

const HOUR = 3_600_000
const MIRROR_LOOK_MS = 30_000

/** "Put this file on these thousand hosts." */
export async function openTransfers(ground: Ground, options: TransfersOptions): Promise<Domain<Transfers>> {
  const { engine, ledger, clock, scanner } = ground
  const deps = { ...ground, ...ground.tenancy }
  const { dataDir, windowSeconds, maxFileBytes, exportFile } = options
  const ttlMs = options.ttlSeconds * 1000
  const timeoutMs = options.timeoutSeconds * 1000
  const mirror = await openMirror(ground, options)
  const windows = new WindowStore({ engine, ledger, onChanged: (id) => mirror?.changed(id) })
  const keepSupersededMs = ttlMs + timeoutMs + windowSeconds * 1000
  const scans = scanner ? new ScanSpool({ scanner, clock }, { folder: join(dataDir, 'scan') }) : undefined
  const repository = new Repository({ ...deps, scans }, { maxBytes: maxFileBytes, keepSupersededMs })
  const cache = new FileCache(deps, {
    directory: join(dataDir, 'transfer-cache'),
    keepMs: ttlMs + timeoutMs,
  })
  const files = new WindowFiles({ ledger, repository, cache })
  const carriers = await options.carriers((task, until) => files.ofEngineTask(task, until))
  const { carrier, agents } = carriers
  const permissions = new Permissions(ledger)
  const api = new Transfers(
    {
      ...{ engine, ledger, permissions, repository, windows, agents, exportFile },
      onJoined: (tasks) => mirror?.joined(tasks),
    },
    options,
  )
  const local: ScheduledDuty['duty'][] = [cache, ...(scans ? [scans] : [])]
  return {
    name: 'transfers',
    api,
    kinds: [
      transferKind({ ...deps, windows, files, carrier }, { timeoutMs, ttlMs }),
      terminateKind({ windows, carrier }),
    ],
    duties: [
      { duty: repository, everyMs: HOUR, runs: 'leader' },
      ...(mirror ? [{ duty: mirror, everyMs: MIRROR_LOOK_MS, runs: 'leader' as const }] : []),
      ...local.map((duty) => ({ duty, everyMs: HOUR / 4, runs: 'local' as const })),
    ],
    views: {
      [TRANSFER_KIND]: {
        get: (taskId) => api.task(taskId),
        // Transfers name their tasks themselves: the engine has one job per window.
        owns: (taskId) => parseTaskKey(taskId) !== undefined,
        missing: (taskId) => noTransfer('task', taskId),
      },
    },
    overview: { kind: TRANSFER_KIND, attention: () => transfersToNotice(ledger) },
    artifacts: repository,
    ...(carriers.sockets && { sockets: carriers.sockets }),
    start: () => carriers.start?.(),
    disconnect: async () => carriers.disconnect?.(),
    async stop() {
      await carriers.stop?.()
      await mirror?.stop()
    },
  }
}

/** The library for Redis is loaded only when it is used. */
async function openMirror(
  { ledger, clock, log }: Ground,
  { redis, ttlSeconds }: TransfersOptions,
): Promise<TransferMirror | undefined> {
  if (redis === null) return undefined
  const { TransferMirror } = await import('./mirror/transfer-mirror.ts')
  return new TransferMirror({ ledger, clock, log }, { ...redis, ttlSeconds })
}

/** Deliveries that failed last and that wait longest. A window that still collects does not wait. */
function transfersToNotice(ledger: Ledger) {
  return jobsToNotice(ledger, TRANSFER_KIND, async (jobIds) => {
    const rows = await ledger.db
      .selectFrom('transfer_windows')
      .select(['id', 'job_id', 'public_id', 'file_name', 'project_id', 'targets', 'failed', 'timed_out'])
      .where('job_id', 'in', jobIds)
      .execute()
    const reasons = await commonestReasons(
      ledger,
      rows.filter(({ failed, timed_out }) => failed + timed_out > 0).map(({ id }) => id),
    )
    return new Map(
      rows.map(({ job_id, public_id, file_name: name, project_id, targets, failed, timed_out, id }) => {
        const reason = reasons.get(id)
        const hosts = reason && { targets: { total: targets, failed: failed + timed_out, ...reason } }
        return [job_id ?? '', { id: public_id, name, project_id, ...hosts }]
      }),
    )
  })
}

/** Of each of these deliveries, the code that most of its failed targets have. */
async function commonestReasons(
  { db }: Ledger,
  windowIds: string[],
): Promise<Map<string, { error_code: number }>> {
  if (windowIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('transfer_targets')
    .select(['window_id', 'error_code', ({ fn }) => fn.countAll<number>().as('count')])
    .where('window_id', 'in', windowIds)
    .where('status', 'in', ['Failed', 'Timeout'])
    .groupBy(['window_id', 'error_code'])
    .execute()
  const rarestFirst = rows.sort((a, b) => Number(a.count) - Number(b.count))
  return new Map(rarestFirst.map(({ window_id, error_code }) => [window_id, { error_code }]))
}
