import type { Ground, Upgrade } from '../domain/index.ts'
import { AddressGuard, HttpClient, NOTHING_PRIVATE } from '../net/index.ts'
import type { Carrier } from './carrier.ts'
import type { GseOptions } from './gse/gse-client.ts'
import { LedgerSwarmStore, SwarmCarrier, type SwarmCarrierOptions } from './swarm/coordinator/index.ts'
import { AgentIdentities } from './swarm/identity/agent-identities.ts'
import { SwarmAuthority } from './swarm/identity/authority.ts'
import { AGENT_SOCKET_PATH } from './swarm/wire/index.ts'

export interface CarriersOptions {
  /** The one that carries files. The swarm runs either way: its agents stay connected. */
  carrier: 'swarm' | 'gse'
  swarm: SwarmCarrierOptions
  gse: GseOptions
  userAgent: string
}

/** The file of a task that another instance began. */
export type FileOf = (engineTaskId: string, until: AbortSignal) => Promise<{ path: string } | undefined>

export interface Carriers {
  carrier: Carrier
  agents: Pick<SwarmCarrier, 'agents' | 'enrolled' | 'invite' | 'revoke'>
  sockets?: Readonly<Record<string, Upgrade>>
  start?(): Promise<void>
  disconnect?(): Promise<void>
  stop?(): Promise<void>
}

/** The one place that knows which carriers there are. */
export async function openCarriers(
  ground: Ground,
  fileOf: FileOf,
  options: CarriersOptions,
): Promise<Carriers> {
  const swarm = await openSwarm(ground, fileOf, options.swarm)
  const gse = options.carrier === 'gse' ? await openGse(ground, options) : undefined
  return {
    carrier: gse?.carrier ?? swarm,
    agents: swarm,
    sockets: { [AGENT_SOCKET_PATH]: swarm.upgrade },
    start: () => swarm.open(),
    disconnect: () => swarm.disconnect(),
    async stop() {
      await swarm.close()
      await gse?.http.close()
    },
  }
}

async function openSwarm(
  { ledger, engine, bus, tenancy: { settings, sealer }, log }: Ground,
  fileOf: FileOf,
  options: SwarmCarrierOptions,
): Promise<SwarmCarrier> {
  // Agents compare what several instances sign, so all of them sign by one clock.
  const { clock } = engine
  const kept = await settings.getOrCreate('swarm_authority', () => sealer.seal(SwarmAuthority.make(clock)))
  return new SwarmCarrier(
    {
      store: new LedgerSwarmStore(ledger),
      authority: new SwarmAuthority(clock, sealer.open(kept)),
      bus,
      instance: engine.instance,
      identities: new AgentIdentities(ledger),
      locate: async ({ id, localPath }, until) => (await fileOf(id, until))?.path ?? localPath,
      clock,
      log,
    },
    options,
  )
}

/** The operator chose this one address, so it may be a private one; nothing else is reached through its client. */
async function openGse(
  { clock, log }: Ground,
  { gse, userAgent }: CarriersOptions,
): Promise<{ carrier: Carrier; http: HttpClient }> {
  const { GseCarrier } = await import('./gse/gse-carrier.ts')
  if (gse.agentId === '') log.warn('GSE_AGENT_ID is not set: a GSE needs it to find the files of this host')
  const own = URL.parse(gse.endpoint)?.origin
  const http = new HttpClient(
    { guard: new AddressGuard(NOTHING_PRIVATE), clock },
    { userAgent, inPlaceOf: (url) => (url.origin === own ? url : undefined), maxRedirects: 0 },
  )
  return { carrier: new GseCarrier({ http, clock }, gse), http }
}
