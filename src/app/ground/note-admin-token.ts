import { hostname } from 'node:os'
import type { Engine } from '../../jobs/index.ts'
import type { Log } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { AuditLog, type Sealer, SettingsStore } from '../../tenancy/index.ts'

const IN_FORCE = 'admin_token_in_force'

/**
 * Says and records that a start has another admin token than the last one had. The ledger keeps its hash sealed, because a
 * token that a person made up could be guessed from it.
 */
export async function noteAdminToken(
  {
    engine,
    ledger,
    sealer,
    log,
  }: { engine: Pick<Engine, 'others'>; ledger: Ledger; sealer: Sealer; log: Log },
  hash: string,
): Promise<void> {
  const settings = new SettingsStore(ledger)
  const kept = await settings.get(IN_FORCE)
  const before = kept === undefined ? undefined : sealer.open(kept)
  if (before === hash) return
  await settings.set(IN_FORCE, sealer.seal(hash))
  if (before === undefined) return
  const [other] = engine.others
  log.warn(
    other
      ? `this instance has another admin token than the last one that started, and another Wharf (process ${other.pid} on ${other.host}) runs beside it: set the same WHARF_ADMIN_TOKEN on each of them`
      : 'the admin token is another one than at the last start: the one before it is no longer good',
  )
  await new AuditLog(ledger).recordAlone({
    actor: 'command',
    action: 'admin_token.changed',
    projectId: null,
    target: hostname(),
    address: null,
  })
}
