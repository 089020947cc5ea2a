import { describe, expect, test } from 'vitest'
import type { Ledger } from '../../../src/ledger/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { fleet } from '../../support/fleet.ts'
import { ledByHand } from '../../support/handlers.ts'
import { until } from '../../support/until.ts'

describe.each(availableBackends())('the limit of a lane by instance on %s', (name) => {
  test('falls once an instance was not seen for as long as a lease lasts', async () => {
    const { instance, advance } = await fleet(name)
    const { kind } = ledByHand('work')
    const lane = { name: 'lane', limit: { perInstance: 4 }, policy: 'fifo' as const }
    const a = await instance([{ ...kind, lane }])
    await instance([{ ...kind, lane }])
    const limit = () => a.engine.lanes.limit('lane')
    expect(await limit()).toBe(8)
    // A third of a lease later the first one is still alive, and says so; the second one has died.
    await advance(10_000)
    await until('it has said so', async () => {
      a.clock.advance(1_000)
      return (await seen(a)) > 1
    })
    expect(await limit()).toBe(8)
    await advance(20_001)
    await until('the limit has fallen', async () => {
      a.clock.advance(10_000)
      return (await limit()) === 4
    })
  })
})

/** How many different times instances were seen at. */
async function seen({ ledger }: { ledger: Ledger }): Promise<number> {
  const rows = await ledger.db.selectFrom('instances').select('seen_at').distinct().execute()
  return rows.length
}
