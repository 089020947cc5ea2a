import { AgentIdentities, LedgerSwarmStore, SwarmAuthority, SwarmCarrier } from '../../carriers/index.ts'
import type { Config } from '../../config.ts'
import type { Bus, Engine } from '../../jobs/index.ts'
import type { Log } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { Sealer, SettingsStore } from '../../tenancy/index.ts'

export interface SwarmGround {
  ledger: Ledger
  engine: Engine
  bus: Bus
  sealer: Sealer
  settings: SettingsStore
  /** The file of a task that another instance began. */
  fileOf(engineTaskId: string, until: AbortSignal): Promise<{ path: string } | undefined>
  log: Log
}

export async function openSwarm(ground: SwarmGround, config: Config): Promise<SwarmCarrier> {
  const { ledger, engine, settings, sealer, bus, log } = ground
  // Agents compare what several instances sign, so all of them sign by one clock.
  const { clock } = engine
  const kept = await settings.getOrCreate('swarm_authority', () => sealer.seal(SwarmAuthority.make(clock)))
  const authority = new SwarmAuthority(clock, sealer.open(kept))
  return new SwarmCarrier(
    {
      store: new LedgerSwarmStore(ledger),
      authority,
      bus,
      instance: engine.instance,
      identities: new AgentIdentities(ledger),
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
