import { join } from 'node:path'
import type { Config } from './config.ts'
import {
  type Backend,
  Engine,
  keepSecret,
  openBackend,
  openInstallation,
  ProjectStore,
  readSecret,
  SettingsStore,
} from './engine/index.ts'
import { HttpServer } from './http/index.ts'
import { AppError, type Clock, createLog, ERRORS, Lifecycle, type Log, systemClock } from './kernel/index.ts'
import { openStandaloneProcessor, Processing } from './processing/index.ts'
import { VERSION } from './version.ts'

export interface Wharf {
  /** Where HTTP listens. */
  address: string
  /** Where `task.v1.TaskService` listens. */
  grpcAddress: string
  adminTokenFile: string | null
  /** Makes the demo project on first call and returns its key. */
  demoKey(): Promise<string>
  /** Drains and stops everything, last started first. */
  stop(): Promise<void>
}

/** Builds everything and starts it in order: what others stand on comes first, the door to the outside last. */
export async function startWharf(config: Config, clock: Clock = systemClock): Promise<Wharf> {
  const log = createLog({ level: config.WHARF_LOG_LEVEL })
  for (const name of config.unknown) log.warn(`${name} is not a setting of Wharf; see .env.example`)
  const backend = await openBackend(
    {
      dataDir: config.WHARF_DATA_DIR,
      databaseUrl: config.DATABASE_URL,
      redisUrl: config.redisUrl,
      redisPrefix: config.WHARF_REDIS_PREFIX,
    },
    clock,
    log,
  )
  const lifecycle = new Lifecycle(log)
  await lifecycle.start([{ name: 'backend', stop: () => backend.close() }])
  try {
    return await startOn(backend, lifecycle, config, clock, log)
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

async function startOn(
  backend: Backend,
  lifecycle: Lifecycle,
  config: Config,
  clock: Clock,
  log: Log,
): Promise<Wharf> {
  const { ledger } = backend
  const settings = new SettingsStore(ledger)
  const installation = await openInstallation(config.WHARF_DATA_DIR, settings, {
    adminToken: config.WHARF_ADMIN_TOKEN,
    sealKey: config.WHARF_SEAL_KEY,
  })
  const { sealer } = installation
  const projects = new ProjectStore({ ledger, sealer })
  const engine = new Engine({ ...backend, clock, log }, engineOptions(config, backend.sole))
  const processing = await Processing.open({ engine, clock, log }, processingOptions(config, backend.sole))
  const http = new HttpServer(
    { ledger, projects, sealer, adminTokenHash: installation.adminTokenHash, log, processing },
    {
      host: config.WHARF_HOST,
      port: config.WHARF_PORT,
      version: VERSION,
      rateLimit: config.WHARF_RATE_LIMIT,
    },
  )
  await lifecycle.start([engine, processing, http])
  return {
    address: http.address,
    grpcAddress: processing.grpcAddress,
    adminTokenFile: installation.adminTokenFile,
    demoKey: () => demoKey(config.WHARF_DATA_DIR, projects, backend),
    stop: () => lifecycle.stop(),
  }
}

function engineOptions(config: Config, sole: boolean) {
  return {
    version: VERSION,
    sole,
    leaseMs: config.WHARF_LEASE_SECONDS * 1000,
    drainMs: config.WHARF_DRAIN_SECONDS * 1000,
    eventsKeptMs: config.WHARF_EVENT_TTL_HOURS * 3_600_000,
    defaultSlots: config.WHARF_SLOTS,
  }
}

function processingOptions(config: Config, sole: boolean) {
  const { TASK_GRPC_TLS_CERT: cert, TASK_GRPC_TLS_KEY: key, TASK_GRPC_TLS_CA: ca } = config
  return {
    ...taskOptions(config),
    sole,
    maxReturns: config.TASK_MAX_RETURNS,
    stalledMs: config.TASK_STALLED_SECONDS * 1000,
    storage: config.LOCAL_STORAGE_PATH,
    temp: config.TEMP_STORAGE_PATH,
    tempTtlMs: config.TASK_TEMP_TTL_HOURS * 3_600_000,
    uploadMaxBytes: config.TASK_UPLOAD_MAX_BYTES,
    grpc: {
      host: config.TASK_GRPC_HOST,
      port: config.TASK_GRPC_PORT,
      token: config.TASK_GRPC_TOKEN,
      tls: cert !== null && key !== null ? { cert, key, ca } : null,
    },
    processor: processorSettings(config),
  }
}

function taskOptions(config: Config) {
  return {
    redis: config.redisUrl === null ? null : { url: config.redisUrl, prefix: config.WHARF_REDIS_PREFIX },
    queueKey: config.TASK_QUEUE_KEY,
    ttlDays: config.TASK_TTL_DAYS,
    aliveMs: config.WHARF_LEASE_SECONDS * 1000,
  }
}

function processorSettings(config: Config) {
  if (config.PROCESSOR_COMMAND === null) return null
  return {
    command: config.PROCESSOR_COMMAND,
    concurrency: config.TASK_PROCESSOR_CONCURRENCY,
    timeoutMs: config.TASK_PROCESSOR_TIMEOUT_SECONDS * 1000,
    retries: config.TASK_PROCESSOR_RETRIES,
    resultName: config.TASK_RESULT_NAME,
    drainMs: config.WHARF_DRAIN_SECONDS * 1000,
  }
}

/** `wharf process`: works on tasks, makes none. Resolves when it takes tasks; the answer stops it. */
export async function startProcessor(
  config: Config,
  clock: Clock = systemClock,
): Promise<() => Promise<void>> {
  const log = createLog({ level: config.WHARF_LOG_LEVEL })
  const { redis, ...rest } = taskOptions(config)
  const processor = processorSettings(config)
  if (redis === null)
    throw new AppError(
      ERRORS.CONFIG_INVALID,
      "'wharf process' needs REDIS_URL; without Redis, 'wharf serve' runs PROCESSOR_COMMAND itself",
    )
  if (processor === null) throw new AppError(ERRORS.CONFIG_INVALID, 'PROCESSOR_COMMAND must be set')
  const lifecycle = new Lifecycle(log)
  await lifecycle.start([await openStandaloneProcessor({ clock, log }, { ...rest, redis, processor })])
  return () => lifecycle.stop()
}

async function demoKey(dataDir: string, projects: ProjectStore, { ledger }: Backend): Promise<string> {
  const file = join(dataDir, 'demo-key')
  const kept = readSecret(file)
  if (kept !== undefined && (await projects.authenticate(kept))) return kept
  const { apiKey } = await ledger.transaction((tx) => projects.create(tx, 'demo'))
  keepSecret(file, apiKey)
  return apiKey
}
