import { join } from 'node:path'
import type { Config } from '../config.ts'
import { partOf, register } from '../domain/index.ts'
import { DiskRoom, HttpServer, IdentityProvider } from '../http/index.ts'
import type { Engine } from '../jobs/index.ts'
import {
  type Clock,
  createLog,
  forgetAddress,
  keepAddress,
  keepSecret,
  Lifecycle,
  type Log,
  readSecret,
  systemClock,
} from '../kernel/index.ts'
import { Mailer, openNotify } from '../notify/index.ts'
import { OrphanSweeper } from '../storage/index.ts'
import { AuditLog, type ProjectStore, type Sessions } from '../tenancy/index.ts'
import { Examination } from './doctor.ts'
import { type Apis, DOMAINS, type DomainTable, type OpenedDomain } from './domains/domain-table.ts'
import { warnOfFewFiles } from './ground/file-limit.ts'
import { openFolders, warnOfLooseFiles } from './ground/folders.ts'
import { allowHiddenInterfaces } from './ground/hidden-interfaces.ts'
import { httpOptions } from './ground/http.ts'
import { noteAdminToken } from './ground/note-admin-token.ts'
import { type Backend, openBackend } from './ground/open-backend.ts'
import { openGround } from './ground/open-ground.ts'
import { OwnAddress, warnOfUnknownAddress } from './ground/public-address.ts'
import { openRateCounts } from './ground/rate-counts.ts'
import { startError } from './ground/start-error.ts'
import { openTraces } from './ground/traces.ts'

export interface Wharf<Table extends DomainTable = typeof DOMAINS> {
  /** Where HTTP listens. */
  address: string
  /** Where the metrics are, when they have a port of their own. */
  metricsAddress: string | null
  adminTokenFile: string | null
  readonly engine: Engine
  readonly projects: ProjectStore
  readonly sessions: Sessions
  /** What each domain offers, by its name. */
  readonly apis: Apis<Table>
  /** Makes the demo project on first call and returns its key. */
  demoKey(): Promise<string>
  /** Drains, sends clients elsewhere, and stops everything, last started first. */
  stop(): Promise<void>
}

const HOUR = 3_600_000

/** Builds everything and starts it in order: the ground first, HTTP last. */
export async function startWharf<Table extends DomainTable = typeof DOMAINS>(
  config: Config,
  clock: Clock = systemClock,
  table: Table = DOMAINS as DomainTable as Table,
): Promise<Wharf<Table>> {
  const log = createLog({ level: config.WHARF_LOG_LEVEL })
  for (const sentence of [...config.misspelt, ...config.doubtful]) log.warn(sentence)
  warnOfFewFiles(log)
  allowHiddenInterfaces(log)
  openFolders(config)
  try {
    return await startIn(config, clock, log, table)
  } catch (error) {
    throw startError(error, config)
  }
}

async function startIn<Table extends DomainTable>(
  config: Config,
  clock: Clock,
  log: Log,
  table: Table,
): Promise<Wharf<Table>> {
  const backend = await openBackend(
    {
      dataDir: config.WHARF_DATA_DIR,
      databaseUrl: config.DATABASE_URL,
      redisUrl: config.redisUrl,
      redisPrefix: config.WHARF_REDIS_PREFIX,
      sealKey: config.WHARF_SEAL_KEY,
      leaseMs: config.WHARF_LEASE_SECONDS * 1_000,
      holdsDataDir: true,
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
    return await startOn(backend, lifecycle, config, table, { clock, log })
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

async function startOn<Table extends DomainTable>(
  backend: Backend,
  lifecycle: Lifecycle,
  config: Config,
  table: Table,
  { clock, log }: { clock: Clock; log: Log },
): Promise<Wharf<Table>> {
  const address = new OwnAddress(config)
  const opened = await openGround(backend, config, { address, clock, log })
  const { ground, installation, sessions } = opened
  const { engine, ledger, store, tenancy } = ground
  await lifecycle.start([
    ...opened.parts,
    // Before the domains: an instance that is refused makes none of their folders.
    { name: 'membership', start: () => engine.join(), stop: () => engine.leave() },
  ])
  log.info(installation.sealedBy)
  await noteAdminToken({ engine, ledger, sealer: tenancy.sealer, log }, installation.adminTokenHash)
  await warnOfLooseFiles(config, log)
  warnOfUnknownAddress(config, log)

  const mounted: Record<string, OpenedDomain> = {}
  for (const [name, { open }] of Object.entries(table)) mounted[name] = await open(ground, config)
  const domains = Object.values(mounted).map(({ domain }) => domain)
  const views = Object.assign({}, ...domains.map((domain) => domain.views))
  const notify = openNotify(ground, { views, mailer: openMailer(config) })
  for (const { kinds, duties } of domains) register(engine, { kinds: kinds.map(notify.following), duties })
  register(engine, { kinds: notify.kinds, duties: [] })
  const owners = domains.flatMap(({ artifacts }) => artifacts ?? [])
  engine.addLeaderDuty(new OrphanSweeper({ store, owners, log }), HOUR)

  const rates = await openRateCounts(config, log)
  const http = new HttpServer(
    {
      ...ground,
      ...tenancy,
      ...{ views, sessions, callbacks: notify.callbacks, adminTokenHash: installation.adminTokenHash },
      watched: Object.fromEntries(
        domains.flatMap(({ name, overview }) => (overview ? [[name, overview]] : [])),
      ),
      routes: Object.values(mounted).map(({ routes }) => routes),
      sockets: Object.assign({}, ...domains.map((domain) => domain.sockets)),
      provider: identityProvider(config),
      audit: new AuditLog(ledger),
      examination: new Examination(config, clock),
      diskRoom: new DiskRoom(clock, [config.WHARF_DATA_DIR, config.filesDir], ledger),
    },
    httpOptions(config, installation.adminTokenHash, rates?.counts),
  )
  await lifecycle.start([
    { name: 'rate counts', stop: () => rates?.close() },
    ...domains.map((domain) => partOf(domain, ground)),
    engine,
    ...domains.map((domain) => ({ name: domain.name, start: () => domain.serve?.() })),
    http,
    {
      name: 'address',
      start: () => {
        address.current = http.address
        keepAddress(config.WHARF_DATA_DIR, http.address)
      },
      stop: () => forgetAddress(config.WHARF_DATA_DIR),
    },
  ])
  return {
    address: http.address,
    metricsAddress: http.metricsAddress,
    adminTokenFile: installation.adminTokenFile,
    engine,
    projects: tenancy.projects,
    sessions,
    apis: Object.fromEntries(
      Object.entries(mounted).map(([name, { domain }]) => [name, domain.api]),
    ) as Apis<Table>,
    demoKey: () => demoKey(config.WHARF_DATA_DIR, tenancy.projects, backend),
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

/** Undefined unless the settings name one. It is not contacted before a person signs in. */
function identityProvider(config: Config): IdentityProvider | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config
  if (issuer === null || clientId === null) return null
  return new IdentityProvider({
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    roleClaim: config.OIDC_ROLE_CLAIM,
    scopes: config.OIDC_SCOPES,
  })
}

/** Null without SMTP settings, which need a public address. */
function openMailer({ SMTP_URL: url, SMTP_FROM: from, WHARF_PUBLIC_URL: publicUrl }: Config): Mailer | null {
  return url === null || publicUrl === null ? null : new Mailer({ url, from, publicUrl })
}
