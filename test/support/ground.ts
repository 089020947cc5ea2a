import type { Ground } from '../../src/domain/index.ts'
import { createLog } from '../../src/kernel/index.ts'
import { ProjectStore, Quotas, Sealer, SettingsStore, Tickets } from '../../src/tenancy/index.ts'
import { NO_QUOTAS } from '../../src/tenancy/quotas.ts'

type Given = Pick<Ground, 'engine' | 'ledger' | 'bus' | 'clock'>

/** A ground for one domain; the test gives whatever of the store and the net this domain uses. */
export function groundOf<More extends Partial<Ground>>(given: Given & More): Ground {
  const { engine, ledger, bus, clock } = given
  const sealer = new Sealer('seal')
  return {
    tenancy: {
      projects: new ProjectStore({ ledger, sealer, bus }),
      quotas: new Quotas({ ledger, clock }, NO_QUOTAS),
      sealer,
      tickets: new Tickets(engine.clock, 'ticket'),
      settings: new SettingsStore(ledger),
    },
    scanner: null,
    linkBase: () => null,
    sole: false,
    log: createLog({ level: 'silent' }),
    ...given,
  } as Ground
}
