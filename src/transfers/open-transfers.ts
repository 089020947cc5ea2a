import { join } from 'node:path'
import type { Carrier } from '../carriers/index.ts'
import type { Engine } from '../jobs/index.ts'
import { type Clock, DutyLoop, type FileScanner, type Log, type Part } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { ArtifactStore } from '../storage/index.ts'
import type { Quotas } from '../tenancy/index.ts'
import type { TransferMirror } from './mirror/transfer-mirror.ts'
import { FileCache } from './repository/file-cache.ts'
import { Permissions } from './repository/permissions.ts'
import { Repository } from './repository/repository.ts'
import { ScanSpool } from './repository/scan-spool.ts'
import { terminateKind } from './terminate-job.ts'
import { transferKind } from './transfer-job.ts'
import type { ExportFile } from './transfer-request.ts'
import { type Agents, Transfers } from './transfers.ts'
import { WindowFiles, WindowStore } from './windows/index.ts'

export interface TransferSettings {
  dataDir: string
  windowSeconds: number
  timeoutSeconds: number
  ttlSeconds: number
  maxFileBytes: number
  /** null: no mirror. */
  redisUrl: string | null
  redisPrefix: string
}

export interface OpenTransfersDeps {
  engine: Engine
  ledger: Ledger
  store: ArtifactStore
  quotas: Quotas
  clock: Clock
  log: Log
  carrier: Carrier
  agents: Agents
  exportFile(taskId: string): Promise<ExportFile>
  scanner?: FileScanner | null
}

const HOUR = 3_600_000
const MIRROR_LOOK_MS = 30_000

export interface OpenedTransfers {
  transfers: Transfers
  mirror: TransferMirror | undefined
  repository: Repository
  /** The files of windows, for an engine that goes on with a task of another instance. */
  files: WindowFiles
  /** To be started before the engine and stopped after it. */
  parts: Part[]
}

/** Puts the parts together and tells the engine of them. To be called before it starts. */
export async function openTransfers(
  deps: OpenTransfersDeps,
  settings: TransferSettings,
): Promise<OpenedTransfers> {
  const { engine, ledger, clock, log, scanner } = deps
  const ttlMs = settings.ttlSeconds * 1000
  const timeoutMs = settings.timeoutSeconds * 1000
  const mirror = await openMirror(deps, settings)
  const windows = new WindowStore({ engine, ledger, onChanged: (id) => mirror?.changed(id) })
  const keepSupersededMs = ttlMs + timeoutMs + settings.windowSeconds * 1000
  const scans = scanner
    ? new ScanSpool({ scanner, clock }, { folder: join(settings.dataDir, 'scan') })
    : undefined
  const repository = new Repository({ ...deps, scans }, { maxBytes: settings.maxFileBytes, keepSupersededMs })
  const cache = new FileCache(deps, {
    directory: join(settings.dataDir, 'transfer-cache'),
    keepMs: ttlMs + timeoutMs,
  })
  const files = new WindowFiles({ ledger, repository, cache })
  engine.define(transferKind({ ...deps, windows, files }, { timeoutMs, ttlMs }))
  engine.define(terminateKind({ windows, carrier: deps.carrier }))
  engine.addLeaderDuty(repository, HOUR)
  if (mirror) engine.addLeaderDuty(mirror, MIRROR_LOOK_MS)
  const sweepers = [cache, ...(scans ? [scans] : [])].map(
    (duty) => new DutyLoop(duty, { clock, log }, { everyMs: HOUR / 4 }),
  )
  const transfers = new Transfers(
    {
      ...deps,
      permissions: new Permissions(ledger),
      repository,
      windows,
      onJoined: (tasks) => mirror?.joined(tasks),
    },
    settings,
  )
  const parts: Part[] = [
    {
      name: 'transfer cache',
      start: () => {
        for (const sweeper of sweepers) sweeper.start()
      },
      stop: async () => {
        for (const sweeper of sweepers) await sweeper.stop()
      },
    },
    ...(mirror ? [mirror] : []),
  ]
  return { transfers, mirror, repository, files, parts }
}

/** The library for Redis is loaded only when it is used. */
async function openMirror(
  { ledger, clock, log }: OpenTransfersDeps,
  { redisUrl, redisPrefix, ttlSeconds }: TransferSettings,
): Promise<TransferMirror | undefined> {
  if (redisUrl === null) return undefined
  const { TransferMirror } = await import('./mirror/transfer-mirror.ts')
  return new TransferMirror({ ledger, clock, log }, { url: redisUrl, prefix: redisPrefix, ttlSeconds })
}
