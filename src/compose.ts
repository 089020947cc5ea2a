import { join } from 'node:path'
import type { Config } from './config.ts'
import {
  type Backend,
  Engine,
  keepSecret,
  type Ledger,
  newSecret,
  openBackend,
  openInstallation,
  ProjectStore,
  readSecret,
  type Sealer,
  SettingsStore,
  type Signal,
  Tickets,
} from './engine/index.ts'
import { ExpirySweeper, Exports, exportKind, SpoolFolders, SpoolSweeper, XlsxPool } from './exports/index.ts'
import { HttpServer } from './http/index.ts'
import { type Clock, createLog, DutyLoop, Lifecycle, type Log, systemClock } from './kernel/index.ts'
import {
  AddressGuard,
  HttpClient,
  LOOPBACK_ONLY,
  NOTHING_PRIVATE,
  ownSamples,
  parseAllowHosts,
} from './net/index.ts'
import { Callbacks, type TaskViews } from './notify/index.ts'
import type { ArtifactStore } from './storage/index.ts'
import { AGENT_SOCKET_PATH, LedgerSwarmStore, SwarmAuthority, SwarmEngine } from './transfers/index.ts'
import { VERSION } from './version.ts'

export interface Wharf {
  /** Where HTTP listens. */
  address: string
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
  const pool = new XlsxPool()
  // The server's own address is known only once it listens; nothing asks for it before.
  const ownAddress = () => http.address
  const outgoing = openHttpClient(config, clock, ownAddress)
  const views: TaskViews = {}
  const callbacks = new Callbacks({ engine, ledger, projects, http: outgoing, clock, views })
  const shared = { engine, ledger, projects, sealer, tickets, http: outgoing, store, pool, clock, log }
  const exports = new Exports(
    { ...shared, publicUrl: () => config.WHARF_PUBLIC_URL?.replace(/\/$/, '') ?? ownAddress() },
    exportsOptions(config),
  )
  views.export = async (taskId) => ({ ...(await exports.get(taskId)) })
  const folders = new SpoolFolders(join(config.WHARF_DATA_DIR, 'spool'))
  callbacks.define()
  engine.define(
    exportKind(
      { ...shared, folders, announce: (tx, kind, ended) => callbacks.announce(tx, kind, ended) },
      exportJobOptions(config),
    ),
  )
  engine.addLeaderDuty(new ExpirySweeper({ ledger, store }), 5 * MINUTE)
  const spools = new DutyLoop(new SpoolSweeper({ ledger, folders }), { clock, log }, { everyMs: HOUR })
  const swarm = await openSwarm(
    { ...shared, settings, signal: backend.signal, agentTokenHash: installation.agentTokenHash },
    config,
  )
  const http: HttpServer = new HttpServer(
    {
      ...shared,
      callbacks,
      exports,
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
    { name: 'swarm', start: () => swarm.open(), stop: () => swarm.close() },
    engine,
    http,
  ])
  return {
    address: http.address,
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
    slots: { export: config.WHARF_EXPORT_CONCURRENCY },
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

function openHttpClient(config: Config, clock: Clock, ownAddress: () => string): HttpClient {
  const allowed =
    config.WHARF_ALLOW_HOSTS === null
      ? config.isLoopback
        ? LOOPBACK_ONLY
        : NOTHING_PRIVATE
      : parseAllowHosts(config.WHARF_ALLOW_HOSTS)
  return new HttpClient(
    { guard: new AddressGuard(allowed), clock },
    { userAgent: `wharf/${VERSION}`, alwaysAllowed: (url) => ownSamples(ownAddress())(url) },
  )
}

interface SwarmGround {
  ledger: Ledger
  engine: Engine
  signal: Signal
  sealer: Sealer
  settings: SettingsStore
  agentTokenHash: string
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
    const { DiskStore } = await import('./storage/index.ts')
    return DiskStore.open({ clock }, { root: join(config.WHARF_DATA_DIR, 'files') })
  }
  const { S3Store } = await import('./storage/index.ts')
  return new S3Store(
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

async function demoKey(dataDir: string, projects: ProjectStore, { ledger }: Backend): Promise<string> {
  const file = join(dataDir, 'demo-key')
  const kept = readSecret(file)
  if (kept !== undefined && (await projects.authenticate(kept))) return kept
  const { apiKey } = await ledger.transaction((tx) => projects.create(tx, 'demo'))
  keepSecret(file, apiKey)
  return apiKey
}
