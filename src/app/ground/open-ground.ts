import type { Config } from '../../config.ts'
import type { Ground } from '../../domain/index.ts'
import { Engine } from '../../jobs/index.ts'
import { type Clock, FileScanner, type Log, type Part } from '../../kernel/index.ts'
import {
  openInstallation,
  ProjectStore,
  Quotas,
  type QuotaValues,
  Sessions,
  SettingsStore,
  sharedSecret,
  Tickets,
} from '../../tenancy/index.ts'
import { VERSION } from '../../version.ts'
import type { Backend } from './open-backend.ts'
import { openHttpClient } from './outgoing.ts'
import type { OwnAddress } from './public-address.ts'
import { openStore, remoteStore } from './store.ts'

export interface OpenedGround {
  ground: Ground
  installation: Awaited<ReturnType<typeof openInstallation>>
  sessions: Sessions
  /** To be stopped after everything that uses the ground. */
  parts: Part[]
}

const HOUR = 3_600_000

/** What all domains have in common, from the settings. */
export async function openGround(
  { ledger, bus, sole, ...backend }: Backend,
  config: Config,
  { address, clock, log }: { address: OwnAddress; clock: Clock; log: Log },
): Promise<OpenedGround> {
  const settings = new SettingsStore(ledger)
  const installation = await openInstallation(config.WHARF_DATA_DIR, settings, {
    adminToken: config.WHARF_ADMIN_TOKEN,
    sealKey: config.WHARF_SEAL_KEY,
  })
  const { sealer, adminTokenHash } = installation
  const projects = new ProjectStore({ ledger, sealer, bus })
  const engine = new Engine({ ...backend, ledger, bus, clock, log }, engineOptions(config, sole))
  const store = await openStore(config, clock)
  const net = openHttpClient(config, clock, address)
  const sessions = new Sessions(
    { ledger, projects, bus },
    { validMs: config.WHARF_SESSION_HOURS * HOUR, adminTokenHash, issuer: config.OIDC_ISSUER },
  )
  engine.addLeaderDuty(sessions, HOUR)
  const tenancy = {
    projects,
    quotas: new Quotas({ ledger, clock: engine.clock }, defaultQuotas(config)),
    sealer,
    tickets: new Tickets(engine.clock, await sharedSecret(settings, sealer, 'ticket')),
    settings,
  }
  return {
    ground: {
      ...{ ledger, engine, bus, store, net, tenancy, sole, clock, log },
      scanner: openScanner(config, log),
      linkBase: (origin) => address.linkBase(origin),
    },
    installation,
    sessions,
    parts: [
      { name: 'store', stop: () => store.close() },
      { name: 'outgoing http', stop: () => net.close() },
    ],
  }
}

function defaultQuotas(config: Config): QuotaValues {
  return {
    exports_at_once: null,
    requests_at_once: config.WHARF_QUOTA_REQUESTS_AT_ONCE,
    streams: config.WHARF_QUOTA_STREAMS,
    disk_bytes: config.WHARF_QUOTA_DISK_BYTES,
    rows_per_day: config.WHARF_QUOTA_ROWS_PER_DAY,
    bytes_per_day: config.WHARF_QUOTA_BYTES_PER_DAY,
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
    files: {
      dataDir: config.WHARF_DATA_DIR,
      store: remoteStore(config),
      sharedDir: config.WHARF_SHARED_DIR,
      sole: sole && config.DATABASE_URL !== null,
    },
  }
}

/** null: files are not scanned. */
function openScanner(config: Config, log: Log): FileScanner | null {
  if (config.SCAN_COMMAND === null) return null
  return new FileScanner(log, {
    command: config.SCAN_COMMAND,
    timeoutMs: config.SCAN_TIMEOUT_SECONDS * 1000,
    concurrency: config.SCAN_CONCURRENCY,
    environment: config.commandEnvironment,
  })
}
