import { describe, expect, onTestFinished, test } from 'vitest'
import { availableBackends, openBackend } from '../support/backends.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { until } from '../support/until.ts'
import { runWharf, serveWharf, temporaryFolder } from '../support/wharf-process.ts'

async function setup() {
  const backend = await openBackend('postgres + redis')
  onTestFinished(() => backend.remove())
  const ledger = await backend.openLedger()
  onTestFinished(() => ledger.close())
  const { WHARF_DATA_DIR: _, REDIS_URL = '', ...ground } = backend.env
  // No instance is dead because this machine is busy.
  const alone = { ...ground, WHARF_ADMIN_TOKEN: ADMIN_TOKEN, WHARF_LEASE_SECONDS: '600' }
  return {
    alone: { ...alone, WHARF_PORT: '0' },
    together: { ...alone, REDIS_URL },
    instances: () =>
      ledger.db.selectFrom('instances').select(['id', 'pid', 'started_at']).orderBy('id').execute(),
    leader: async () => (await ledger.db.selectFrom('leaders').select('holder').execute())[0]?.holder,
  }
}

describe.runIf(availableBackends().includes('postgres + redis'))('an instance without Redis', () => {
  test('is refused beside living ones, which keep their rows and the lead', async () => {
    const { alone, together, instances, leader } = await setup()
    await Promise.all([serveWharf(together), serveWharf(together)])
    const before = {
      leader: await until('one of them leads', leader),
      instances: await instances(),
    }
    expect(before.instances).toHaveLength(2)

    const third = runWharf(['serve'], { ...alone, WHARF_DATA_DIR: temporaryFolder() })
    // Or that it listens.
    await until('it says why it ends', () => third.output.err.includes('\n'))
    expect(third.output.err).toMatch(
      /^wharf: another Wharf \(process \d+ on .+\) runs on this ledger: .*set the same REDIS_URL on each of them.* \(SINGLE_INSTANCE\)\n$/,
    )
    expect(await third.exited).toEqual({ code: 1, signal: null })
    expect({ leader: await leader(), instances: await instances() }).toEqual(before)

    const doctor = runWharf(['doctor'], { ...alone, WHARF_DATA_DIR: temporaryFolder() })
    expect(await doctor.exited).toEqual({ code: 1, signal: null })
    expect(doctor.output.out).toContain(
      '✗ redis    none, and 2 instances run on this ledger: set the same REDIS_URL on each of them',
    )
  })

  test('comes back at once on its data dir after it was killed', async () => {
    const { alone, instances, leader } = await setup()
    const WHARF_DATA_DIR = temporaryFolder()
    const first = await serveWharf({ ...alone, WHARF_DATA_DIR })
    first.child.kill('SIGKILL')
    await first.exited
    const second = await serveWharf({ ...alone, WHARF_DATA_DIR })
    const living = await instances()
    expect(living.map(({ pid }) => pid)).toEqual([second.child.pid])
    expect(await until('it leads', leader, (holder) => holder === living[0]?.id)).toBe(living[0]?.id)
  })
})
