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
import { type Clock, createLog, Lifecycle, type Log, systemClock } from './kernel/index.ts'
import { AddressGuard, HttpClient, LOOPBACK_ONLY, NOTHING_PRIVATE, parseAllowHosts } from './net/index.ts'
import { Runs } from './runs/index.ts'
import { VERSION } from './version.ts'

export interface Wharf {
  /** Where HTTP listens. */
  address: string
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
  const net = new HttpClient({ guard: addressGuard(config), clock }, { connectionsPerOrigin: 128 })
  const runs = new Runs(
    { engine, net, clock, log },
    {
      folder: join(config.WHARF_DATA_DIR, 'accounts'),
      connections: config.WHARF_RUN_CONNECTIONS,
      alone: backend.sole,
    },
  )
  const http = new HttpServer(
    { ledger, projects, sealer, adminTokenHash: installation.adminTokenHash, log, runs },
    {
      host: config.WHARF_HOST,
      port: config.WHARF_PORT,
      version: VERSION,
      rateLimit: config.WHARF_RATE_LIMIT,
    },
  )
  await lifecycle.start([{ name: 'net', stop: () => net.close() }, engine, http])
  return {
    address: http.address,
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
    // Runs have a limit of their own over all instances, which may be moved at any time.
    slots: { runs: 1_000 },
  }
}

function addressGuard({ WHARF_ALLOW_HOSTS, isLoopback }: Config): AddressGuard {
  if (WHARF_ALLOW_HOSTS) return new AddressGuard(parseAllowHosts(WHARF_ALLOW_HOSTS.join(',')))
  return new AddressGuard(isLoopback ? LOOPBACK_ONLY : NOTHING_PRIVATE)
}

async function demoKey(dataDir: string, projects: ProjectStore, { ledger }: Backend): Promise<string> {
  const file = join(dataDir, 'demo-key')
  const kept = readSecret(file)
  if (kept !== undefined && (await projects.authenticate(kept))) return kept
  const { apiKey } = await ledger.transaction((tx) => projects.create(tx, 'demo'))
  keepSecret(file, apiKey)
  return apiKey
}
