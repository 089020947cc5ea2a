import { join } from 'node:path'
import { AGENT_SOCKET_PATH, openCarrier } from '../carriers/index.ts'
import type { Config } from '../config.ts'
import {
  ExpirySweeper,
  ExportArtifacts,
  Exports,
  exportKind,
  type Mask,
  openSigner,
  projectMaskKey,
  SavedExports,
  Scheduler,
  SpoolFolders,
  SpoolSweeper,
  SqlConnections,
  TemplateStore,
  ThreadPool,
} from '../exports/index.ts'
import { DiskRoom, HttpServer } from '../http/index.ts'
import { Engine, Overview } from '../jobs/index.ts'
import {
  type Clock,
  createLog,
  DutyLoop,
  forgetAddress,
  keepAddress,
  keepSecret,
  Lifecycle,
  type Log,
  readSecret,
  systemClock,
} from '../kernel/index.ts'
import { Callbacks, checkNotify, Notices, type TaskViews } from '../notify/index.ts'
import { Processing } from '../processing/index.ts'
import { Runs } from '../runs/index.ts'
import { OrphanSweeper } from '../storage/index.ts'
import {
  AuditLog,
  openInstallation,
  ProjectStore,
  Quotas,
  Sessions,
  SettingsStore,
  sharedSecret,
  Tickets,
} from '../tenancy/index.ts'
import { openTransfers } from '../transfers/index.ts'
import { VERSION } from '../version.ts'
import { exportJobOptions, exportsOptions } from './domains/exports.ts'
import { processingOptions } from './domains/processing.ts'
import { defaultQuotas } from './domains/quotas.ts'
import { openSwarm } from './domains/swarm.ts'
import { transferEngineChoice, transferSettings } from './domains/transfers.ts'
import { engineOptions } from './ground/engine.ts'
import { openFolders, warnOfLooseFiles } from './ground/folders.ts'
import { identityProvider } from './ground/identity-provider.ts'
import { openMailer } from './ground/mailer.ts'
import { metricsAccess } from './ground/metrics.ts'
import { type Backend, openBackend } from './ground/open-backend.ts'
import { openGseHttpClient, openHttpClient } from './ground/outgoing.ts'
import { linkBase, warnOfUnknownAddress } from './ground/public-address.ts'
import { openRateCounts } from './ground/rate-counts.ts'
import { openScanner } from './ground/scanner.ts'
import { openStore } from './ground/store.ts'
import { openTraces } from './ground/traces.ts'

export interface Wharf {
  /** Where HTTP listens. */
  address: string
  /** Where `task.v1.TaskService` listens. */
  grpcAddress: string
  /** Where the metrics are, when they have a port of their own. */
  metricsAddress: string | null
  adminTokenFile: string | null
  readonly engine: Engine
  readonly projects: ProjectStore
  readonly sessions: Sessions
  readonly saved: SavedExports
  /** Makes the demo project on first call and returns its key. */
  demoKey(): Promise<string>
  /** Drains, sends clients elsewhere, and stops everything, last started first. */
  stop(): Promise<void>
}

const HOUR = 3_600_000
const MINUTE = 60_000
/** At most: the duty itself knows when the next saved export is due. */
const SCHEDULES_EVERY_MS = 20_000

/** Builds everything and starts it in order: what others stand on comes first, the door to the outside last. */
export async function startWharf(config: Config, clock: Clock = systemClock): Promise<Wharf> {
  const log = createLog({ level: config.WHARF_LOG_LEVEL })
  for (const name of config.unknown) log.warn(`${name} is not a setting of Wharf; see .env.example`)
  openFolders(config)
  const backend = await openBackend(
    {
      dataDir: config.WHARF_DATA_DIR,
      databaseUrl: config.DATABASE_URL,
      redisUrl: config.redisUrl,
      redisPrefix: config.WHARF_REDIS_PREFIX,
      sealKey: config.WHARF_SEAL_KEY,
    },
    clock,
    log,
  )
  const lifecycle = new Lifecycle(log, { drainMs: config.WHARF_DRAIN_SECONDS * 1000 })
  await lifecycle.start([
    ...(await openTraces(config, log)),
    { name: 'backend', stop: () => backend.close() },
  ])
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
  log.info(installation.sealedBy)
  await warnOfLooseFiles(config, log)
  warnOfUnknownAddress(config, log)
  const { sealer } = installation
  const projects = new ProjectStore({ ledger, sealer, bus: backend.bus })
  const sessions = new Sessions(
    { ledger, projects, bus: backend.bus },
    {
      validMs: config.WHARF_SESSION_HOURS * HOUR,
      adminTokenHash: installation.adminTokenHash,
      issuer: config.OIDC_ISSUER,
    },
  )
  const engine = new Engine({ ...backend, clock, log }, engineOptions(config, backend.sole))
  const ticketKey = await sharedSecret(settings, sealer, 'ticket')
  const tickets = new Tickets(engine.clock, ticketKey)
  const store = await openStore(config, clock)
  const pool = new ThreadPool()
  const scanner = openScanner(config, log)
  // The server's own address is known only once it listens; nothing asks for it before.
  const ownAddress = () => http.address
  let listening = false
  // A callback may be due before: then the address is the one that it will be.
  const knownAddress = () => (listening ? ownAddress() : `http://${config.WHARF_HOST}:${config.WHARF_PORT}`)
  const outgoing = openHttpClient(config, clock, () => (listening ? ownAddress() : undefined))
  const views: TaskViews = {}
  const callbacks = new Callbacks({
    engine,
    ledger,
    projects,
    sealer,
    http: outgoing,
    clock: engine.clock,
    views: { export: async (taskId) => ({ ...(await exports.told(taskId)) }) },
  })
  const { WHARF_PUBLIC_URL: publicUrl } = config
  const mailer = openMailer(config)
  const notices = new Notices({
    engine,
    ledger,
    sealer,
    http: outgoing,
    clock: engine.clock,
    mailer,
    told: (taskId) => exports.notice(taskId),
  })
  const maskSecret = await sharedSecret(settings, sealer, 'mask')
  const quotas = new Quotas({ ledger, clock: engine.clock }, defaultQuotas(config))
  const connections = new SqlConnections({ ledger, sealer, http: outgoing })
  const templates = new TemplateStore(ledger)
  const shared = {
    connections,
    templates,
    engine,
    ledger,
    projects,
    quotas,
    sealer,
    tickets,
    http: outgoing,
    store,
    pool,
    signer: await openSigner(settings, sealer),
    masksOf: async (projectId: string) => ({
      demanded: (await projects.masks(projectId)) as Record<string, Mask>,
      key: projectMaskKey(maskSecret, projectId),
    }),
    clock,
    log,
  }
  const exports = new Exports(
    {
      ...shared,
      publicUrl: (asked) => linkBase(config, knownAddress, asked),
      checkNotify: (wish) =>
        checkNotify(wish, {
          mail: mailer !== null,
          publicUrl: publicUrl !== null,
          checkUrl: (url) => outgoing.check(url),
        }),
    },
    exportsOptions(config),
  )
  views.export = async (taskId, issuer) => ({ ...(await exports.get(taskId, issuer)) })
  const saved = new SavedExports({ ledger, sealer, exports })
  engine.addLeaderDuty(new Scheduler({ ledger, saved, exports, log }), SCHEDULES_EVERY_MS)
  const folders = new SpoolFolders(join(config.WHARF_DATA_DIR, 'spool'))
  callbacks.define()
  notices.define()
  engine.define(
    exportKind(
      {
        ...shared,
        clock: engine.clock,
        folders,
        announce: async (tx, kind, ended) => {
          await callbacks.announce(tx, kind, ended)
          await notices.announce(tx, kind, ended)
        },
      },
      exportJobOptions(config),
    ),
  )
  engine.addLeaderDuty(new ExpirySweeper({ ledger, store, quotas }), 5 * MINUTE)
  const runs = new Runs(
    { engine, net: outgoing, sealer, clock, log, scanner },
    {
      folder: join(config.filesDir, 'accounts'),
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
      bus: backend.bus,
      fileOf: (task, until) => files.ofEngineTask(task, until),
    },
    config,
  )
  const processing = await Processing.open(
    { engine, quotas, clock, log },
    processingOptions(config, backend.sole, scanner),
  )
  const gse = openGseHttpClient(config, clock)
  const carrier = await openCarrier({ http: gse, clock, log, swarm }, transferEngineChoice(config))
  const {
    transfers,
    repository,
    files,
    parts: transferParts,
  } = await openTransfers(
    { ...shared, scanner, carrier, agents: swarm, exportFile: (taskId) => exports.artifact(taskId) },
    transferSettings(config),
  )
  const owners = [new ExportArtifacts({ ledger }), repository]
  engine.addLeaderDuty(sessions, HOUR)
  engine.addLeaderDuty(new OrphanSweeper({ store, owners, log }), HOUR)
  views.transfer = async (taskId) => ({ ...(await transfers.task(taskId)) })
  const rates = await openRateCounts(config, log)
  const http: HttpServer = new HttpServer(
    {
      ...shared,
      settings,
      callbacks,
      exports,
      saved,
      runs,
      transfers,
      processing,
      overview: new Overview(engine, {
        exports: { kind: 'export' },
        transfers: { kind: 'transfer' },
        runs: { kind: 'run' },
        processing: { kind: 'processing', depth: () => processing.depth() },
      }),
      views,
      adminTokenHash: installation.adminTokenHash,
      sessions,
      provider: identityProvider(config),
      audit: new AuditLog(ledger),
      bus: backend.bus,
      diskRoom: new DiskRoom(clock, [config.WHARF_DATA_DIR, config.filesDir]),
      sockets: { [AGENT_SOCKET_PATH]: swarm.upgrade },
    },
    {
      host: config.WHARF_HOST,
      port: config.WHARF_PORT,
      version: VERSION,
      rateLimit: config.WHARF_RATE_LIMIT,
      rateCounts: rates?.counts,
      publicUrl: config.WHARF_PUBLIC_URL,
      trustProxy: config.WHARF_TRUST_PROXY,
      corsOrigins: config.WHARF_CORS_ORIGINS,
      bodies: {
        smallMs: config.WHARF_BODY_TIMEOUT_SECONDS * 1000,
        paceMs: config.WHARF_UPLOAD_IDLE_SECONDS * 1000,
        minBytesPerSecond: 1_024,
      },
      unreadyMs: config.WHARF_UNREADY_SECONDS * 1000,
      folders: { data: config.WHARF_DATA_DIR, files: config.filesDir },
      metrics: metricsAccess(config, installation.adminTokenHash),
      samples: config.WHARF_SAMPLES === 'on',
      docs: config.WHARF_DOCS === 'on',
    },
  )
  await lifecycle.start([
    { name: 'store', stop: () => store.close() },
    { name: 'rate counts', stop: () => rates?.close() },
    { name: 'outgoing http', stop: () => outgoing.close() },
    { name: 'export threads', stop: () => pool.close() },
    { name: 'spool sweeper', start: () => spools.start(), stop: () => spools.stop() },
    { name: 'gse http', stop: () => gse.close() },
    ...transferParts,
    {
      name: 'swarm',
      start: () => swarm.open(),
      disconnect: () => swarm.disconnect(),
      stop: () => swarm.close(),
    },
    engine,
    processing,
    http,
    {
      name: 'address file',
      start: () => keepAddress(config.WHARF_DATA_DIR, http.address),
      stop: () => forgetAddress(config.WHARF_DATA_DIR),
    },
  ])
  listening = true
  return {
    address: http.address,
    metricsAddress: http.metricsAddress,
    grpcAddress: processing.grpcAddress,
    adminTokenFile: installation.adminTokenFile,
    engine,
    projects,
    sessions,
    saved,
    demoKey: () => demoKey(config.WHARF_DATA_DIR, projects, backend),
    stop: () => lifecycle.stop(),
  }
}

async function demoKey(dataDir: string, projects: ProjectStore, { ledger }: Backend): Promise<string> {
  const file = join(dataDir, 'demo-key')
  const kept = readSecret(file)
  if (kept !== undefined && (await projects.authenticate(kept))) return kept
  const { apiKey } = await ledger.transaction((tx) => projects.create(tx, 'demo'))
  keepSecret(file, apiKey)
  return apiKey
}
