import { join } from 'node:path'
import type { Config } from './config.ts'
import {
  type Backend,
  Engine,
  keepSecret,
  type Ledger,
  newSecret,
  Overview,
  openBackend,
  openInstallation,
  ProjectStore,
  readSecret,
  type Sealer,
  SettingsStore,
  type Signal,
  Tickets,
} from './engine/index.ts'
import {
  ExpirySweeper,
  Exports,
  exportKind,
  SpoolFolders,
  SpoolSweeper,
  ThreadPool,
} from './exports/index.ts'
import { HttpServer } from './http/index.ts'
import {
  AppError,
  type Clock,
  createLog,
  DutyLoop,
  ERRORS,
  Lifecycle,
  type Log,
  systemClock,
} from './kernel/index.ts'
import {
  AddressGuard,
  HttpClient,
  LOOPBACK_ONLY,
  NOTHING_PRIVATE,
  ownSamples,
  parseAllowHosts,
} from './net/index.ts'
import { Callbacks, type TaskViews } from './notify/index.ts'
import { openStandaloneProcessor, Processing } from './processing/index.ts'
import { Runs } from './runs/index.ts'
import { type ArtifactStore, DiskStore, openS3Store } from './storage/index.ts'
import {
  AGENT_SOCKET_PATH,
  LedgerSwarmStore,
  openTransferEngine,
  openTransfers,
  SwarmAuthority,
  SwarmEngine,
} from './transfers/index.ts'
import { VERSION } from './version.ts'

export interface Wharf {
  /** Where HTTP listens. */
  address: string
  /** Where `task.v1.TaskService` listens. */
  grpcAddress: string
  adminTokenFile: string | null
  readonly engine: Engine
  readonly projects: ProjectStore
  /** Makes the demo project on first call and returns its key. */
  demoKey(): Promise<string>
  /** Drains and stops everything, last started first. */
  stop(): Promise<void>
}

const HOUR = 3_600_000
const MINUTE = 60_000
const TRANSFER_SLOTS = 512

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
    agentToken: config.WHARF_AGENT_TOKEN,
    sealKey: config.WHARF_SEAL_KEY,
  })
  const { sealer } = installation
  const projects = new ProjectStore({ ledger, sealer })
  const tickets = new Tickets(clock, await settings.getOrCreate('ticket_key', () => newSecret('ticket_')))
  const engine = new Engine({ ...backend, clock, log }, engineOptions(config, backend.sole))
  const store = await openStore(config, clock)
  const pool = new ThreadPool()
  // The server's own address is known only once it listens; nothing asks for it before.
  const ownAddress = () => http.address
  let listening = false
  // A callback may be due before: then the address is the one that it will be.
  const knownAddress = () => (listening ? ownAddress() : `http://${config.WHARF_HOST}:${config.WHARF_PORT}`)
  const outgoing = openHttpClient(config, clock, () => (listening ? ownAddress() : undefined))
  const views: TaskViews = {}
  const callbacks = new Callbacks({ engine, ledger, projects, http: outgoing, clock, views })
  const shared = { engine, ledger, projects, sealer, tickets, http: outgoing, store, pool, clock, log }
  const exports = new Exports(
    { ...shared, publicUrl: () => config.WHARF_PUBLIC_URL?.replace(/\/$/, '') ?? knownAddress() },
    exportsOptions(config),
  )
  views.export = async (taskId, ticket) => ({ ...(await exports.get(taskId, ticket)) })
  const folders = new SpoolFolders(join(config.WHARF_DATA_DIR, 'spool'))
  callbacks.define()
  engine.define(
    exportKind(
      { ...shared, folders, announce: (tx, kind, ended) => callbacks.announce(tx, kind, ended) },
      exportJobOptions(config),
    ),
  )
  engine.addLeaderDuty(new ExpirySweeper({ ledger, store }), 5 * MINUTE)
  const runs = new Runs(
    { engine, net: outgoing, clock, log },
    {
      folder: join(config.WHARF_DATA_DIR, 'accounts'),
      connections: config.WHARF_RUN_CONNECTIONS,
      alone: backend.sole,
    },
  )
  views.run = async (taskId) => ({ ...(await runs.run(taskId)) })
  const spools = new DutyLoop(new SpoolSweeper({ ledger, folders }), { clock, log }, { everyMs: HOUR })
  const swarm = await openSwarm(
    {
      ...shared,
      settings,
      signal: backend.signal,
      agentTokenHash: installation.agentTokenHash,
      fileOf: (task, until) => files.ofEngineTask(task, until),
    },
    config,
  )
  const processing = await Processing.open({ engine, clock, log }, processingOptions(config, backend.sole))
  const gse = openGseHttpClient(config, clock)
  const carrier = await openTransferEngine({ http: gse, clock, log, swarm }, transferEngineChoice(config))
  const {
    transfers,
    files,
    parts: transferParts,
  } = await openTransfers(
    { ...shared, carrier, connected: () => swarm.agents(), exportFile: (taskId) => exports.artifact(taskId) },
    transferSettings(config),
  )
  views.transfer = async (taskId) => ({ ...(await transfers.task(taskId)) })
  const http: HttpServer = new HttpServer(
    {
      ...shared,
      callbacks,
      exports,
      runs,
      transfers,
      processing,
      overview: new Overview(ledger, {
        exports: { kind: 'export' },
        transfers: { kind: 'transfer' },
        runs: { kind: 'run' },
        processing: { kind: 'processing', depth: () => processing.depth() },
      }),
      views,
      adminTokenHash: installation.adminTokenHash,
      sockets: { [AGENT_SOCKET_PATH]: swarm.upgrade },
    },
    {
      host: config.WHARF_HOST,
      port: config.WHARF_PORT,
      version: VERSION,
      rateLimit: config.WHARF_RATE_LIMIT,
    },
  )
  await lifecycle.start([
    { name: 'store', stop: () => store.close() },
    { name: 'outgoing http', stop: () => outgoing.close() },
    { name: 'xlsx threads', stop: () => pool.close() },
    { name: 'spool sweeper', start: () => spools.start(), stop: () => spools.stop() },
    { name: 'gse http', stop: () => gse.close() },
    ...transferParts,
    { name: 'swarm', start: () => swarm.open(), stop: () => swarm.close() },
    engine,
    processing,
    http,
  ])
  listening = true
  return {
    address: http.address,
    grpcAddress: processing.grpcAddress,
    adminTokenFile: installation.adminTokenFile,
    engine,
    projects,
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
    eventsKeptMs: config.WHARF_EVENT_TTL_HOURS * HOUR,
    defaultSlots: config.WHARF_SLOTS,
    // Runs have a limit of their own over all instances, which may be moved at any time. A transfer mostly waits for
    // its engine; the next window must not wait for a slot.
    slots: { export: config.WHARF_EXPORT_CONCURRENCY, runs: 1_000, transfer: TRANSFER_SLOTS },
  }
}

function exportsOptions(config: Config) {
  return {
    dataDir: config.WHARF_DATA_DIR,
    projectLimit: config.WHARF_EXPORT_PROJECT_LIMIT,
    syncMaxRows: config.WHARF_SYNC_MAX_ROWS,
    excel: excelLimits(config),
  }
}

function exportJobOptions(config: Config) {
  return {
    concurrency: config.WHARF_EXPORT_CONCURRENCY,
    timeoutMs: config.WHARF_EXPORT_TIMEOUT_MINUTES * MINUTE,
    ttlMs: config.WHARF_EXPORT_TTL_HOURS * HOUR,
    limits: { maxRows: config.WHARF_EXPORT_MAX_ROWS, maxBytes: config.WHARF_EXPORT_MAX_BYTES },
    excel: excelLimits(config),
  }
}

function excelLimits(config: Config) {
  return { maxRows: config.WHARF_EXCEL_MAX_ROWS, maxBytes: config.WHARF_EXCEL_MAX_BYTES }
}

function openHttpClient(config: Config, clock: Clock, ownAddress: () => string | undefined): HttpClient {
  const allowed =
    config.WHARF_ALLOW_HOSTS === null
      ? config.isLoopback
        ? LOOPBACK_ONLY
        : NOTHING_PRIVATE
      : parseAllowHosts(config.WHARF_ALLOW_HOSTS)
  return new HttpClient(
    { guard: new AddressGuard(allowed), clock },
    {
      userAgent: `wharf/${VERSION}`,
      connectionsPerOrigin: 64,
      alwaysAllowed: (url) => isOwnSample(url, ownAddress),
    },
  )
}

/** Work that goes on after a restart asks before the server listens; then nothing is its own yet. */
function isOwnSample(url: URL, ownAddress: () => string | undefined): boolean {
  const own = ownAddress()
  return own !== undefined && ownSamples(own)(url)
}

function transferSettings(config: Config) {
  return {
    dataDir: config.WHARF_DATA_DIR,
    windowSeconds: config.COLLECT_WINDOW_SECONDS,
    timeoutSeconds: config.JOB_TIMEOUT_SECONDS,
    ttlSeconds: config.TRANSFER_TTL_SECONDS,
    maxFileBytes: config.WHARF_REPOSITORY_MAX_BYTES,
    redisUrl: config.redisUrl,
    redisPrefix: config.WHARF_REDIS_PREFIX,
  }
}

function transferEngineChoice(config: Config) {
  return {
    name: config.TRANSFER_ENGINE,
    gse: {
      endpoint: config.GSE_ENDPOINT ?? '',
      appCode: config.GSE_APP_CODE ?? '',
      appSecret: config.GSE_APP_SECRET ?? '',
      username: config.GSE_USERNAME ?? '',
      tenantId: config.GSE_TENANT_ID ?? '',
      agentId: config.GSE_AGENT_ID ?? '',
      containerId: config.GSE_CONTAINER_ID ?? '',
      agentUser: config.GSE_AGENT_USER ?? 'root',
    },
  }
}

/** The operator chose this one address, so it may be a private one; nothing else is reached through this client. */
function openGseHttpClient(config: Config, clock: Clock): HttpClient {
  const own = config.GSE_ENDPOINT === null ? null : new URL(config.GSE_ENDPOINT).origin
  return new HttpClient(
    { guard: new AddressGuard(NOTHING_PRIVATE), clock },
    { userAgent: `wharf/${VERSION}`, alwaysAllowed: (url) => url.origin === own, maxRedirects: 0 },
  )
}

interface SwarmGround {
  ledger: Ledger
  engine: Engine
  signal: Signal
  sealer: Sealer
  settings: SettingsStore
  agentTokenHash: string
  /** The file of a task that another instance began. */
  fileOf(engineTaskId: string, until: AbortSignal): Promise<{ path: string } | undefined>
  clock: Clock
  log: Log
}

async function openSwarm(ground: SwarmGround, config: Config): Promise<SwarmEngine> {
  const { ledger, engine, settings, sealer, signal, agentTokenHash, clock, log } = ground
  const kept = await settings.getOrCreate('swarm_authority', () => sealer.seal(SwarmAuthority.make(clock)))
  const authority = new SwarmAuthority(clock, sealer.open(kept))
  return new SwarmEngine(
    {
      store: new LedgerSwarmStore(ledger),
      authority,
      signal,
      instance: engine.instance,
      agentTokenHash,
      locate: async ({ id, localPath }, until) => (await ground.fileOf(id, until))?.path ?? localPath,
      clock,
      log,
    },
    {
      host: config.WHARF_HOST,
      port: config.WHARF_SWARM_PORT,
      advertiseHost: config.WHARF_SWARM_HOST,
      depth: config.WHARF_SWARM_CHAIN_DEPTH,
      maxChains: config.WHARF_SWARM_CHAINS,
    },
  )
}

async function openStore(config: Config, clock: Clock): Promise<ArtifactStore> {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config
  if (bucket === null || accessKeyId === null || secretAccessKey === null) {
    return DiskStore.open({ clock }, { root: join(config.WHARF_DATA_DIR, 'files') })
  }
  return openS3Store(
    { clock },
    {
      endpoint: config.S3_ENDPOINT ?? `https://s3.${config.S3_REGION}.amazonaws.com`,
      region: config.S3_REGION,
      bucket,
      accessKeyId,
      secretAccessKey,
      ...(config.CDN_BASE_URL !== null && { cdnBaseUrl: config.CDN_BASE_URL }),
    },
  )
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
      mayMove: !config.given.has('TASK_GRPC_PORT'),
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
