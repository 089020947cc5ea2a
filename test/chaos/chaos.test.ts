import { expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { NGINX } from '../support/nginx.ts'
import { LIMIT_MS } from '../support/until.ts'
import { check } from './check.ts'
import { startCluster } from './cluster.ts'
import { FAULTS, type FaultName, inflict, TOGETHER } from './faults.ts'
import { ChaosLoad } from './load.ts'
import { Random } from './random.ts'

/** Settings of `npm run chaos`; without them every fault comes once, always in the same order. */
const minutes = Number(process.env.CHAOS_MINUTES ?? 0)
const seed = Number(process.env.CHAOS_SEED ?? (minutes > 0 ? Date.now() % 1_000_000 : 1))
const limitMs = 4 * LIMIT_MS + 2 * minutes * 60_000
const names = Object.keys(FAULTS) as FaultName[]
const scenario = process.env.CHAOS_SCENARIO
const chosen = scenario === undefined ? names : names.filter((name) => name.includes(scenario))

test.runIf(NGINX && availableBackends().includes('postgres + redis'))(
  `nothing is lost, done twice or ended wrongly whatever fails (seed ${seed})`,
  { timeout: limitMs },
  async () => {
    expect(chosen, `no fault is called ${scenario}; there are: ${names.join(', ')}`).not.toEqual([])
    const random = new Random(seed)
    const cluster = await startCluster()
    const load = new ChaosLoad(cluster, random)
    await load.begin()
    const counts: Record<string, number> = {}
    const hurt = async (name: FaultName) => {
      counts[name] = (counts[name] ?? 0) + 1
      const before = load.accepted
      await inflict(name, { cluster, load, random })
      if (minutes > 0)
        console.log(`${name}: ${load.accepted - before} ended meanwhile, ${load.wrong.length} wrong`)
    }
    for (const round of roundsOf(random)) {
      const log = cluster.nodes.flatMap(({ errors }) => errors.slice(-20)).join('\n')
      expect(load.wrong, `after ${JSON.stringify(counts)}\n${log}`).toEqual([])
      await Promise.all(round.map(hurt))
    }
    await load.end()
    expect(await check(cluster, load)).toEqual([])
    const faults = Object.values(counts).reduce((sum, count) => sum + count, 0)
    console.log(
      `chaos: seed ${seed}, ${faults} faults, ${load.accepted} accepted and ended (${JSON.stringify(load.done)}), 0 lost, 0 doubled, 0 stuck, 0 wrong ends`,
    )
  },
)

/** Each fault once in a random order; for as long as was asked for, and then also several at once. */
function* roundsOf(random: Random): Generator<FaultName[]> {
  const over = performance.now() + minutes * 60_000
  do {
    for (const name of shuffled(chosen, random)) yield [name]
    if (minutes > 0 && scenario === undefined) yield random.pick(TOGETHER)
  } while (performance.now() < over)
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
