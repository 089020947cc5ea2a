import type { Config } from '../../config.ts'
import type { Ground } from '../../domain/index.ts'
import { Engine } from '../../jobs/index.ts'
import type { Clock, Log, Part } from '../../kernel/index.ts'
import {
  openInstallation,
  ProjectStore,
  Quotas,
  Sessions,
  SettingsStore,
  sharedSecret,
  Tickets,
} from '../../tenancy/index.ts'
import { defaultQuotas } from './default-quotas.ts'
import { engineOptions } from './engine.ts'
import type { Backend } from './open-backend.ts'
import { openHttpClient } from './outgoing.ts'
import type { OwnAddress } from './public-address.ts'
import { openScanner } from './scanner.ts'
import { openStore } from './store.ts'

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
