import { type Bar, printTable, quantile } from '../report.ts'
import { startServices } from '../services.ts'
import { type Joined, joinMany, joinPaced } from './joins/callers.ts'
import { type Ground, openGround } from './joins/ground.ts'

const CALLERS = 500
const RATE = 3_000
const WINDOW_TARGETS = 10_000
/** Enough for several transactions at each end: one alone says more about the disk than about the window. */
const ENDS = 1_000
const CALLERS_AT_ENDS = 100

/**
 * Joining windows: how many requests one process accepts and has on disk each second, and how long a caller waits.
 * Callers ask one after the other, each for a target of its own, all for the same file; the servers sync to disk as
 * they do in production.
 */
export async function benchJoins({ quick }: { quick: boolean }): Promise<Bar[]> {
  await measure({ name: 'SQLite', databaseUrl: null, redisUrl: null }, quick)
  const services = await startServices()
  const database = await services.createDatabase()
  try {
    const ground = { name: 'PostgreSQL + Redis', databaseUrl: database.url, redisUrl: services.redisUrl }
    const { closed, paced, first, last } = await measure(ground, quick)
    const rate = closed.waits.length / closed.seconds
    return [
      { what: 'join, accepted and durable', value: 1_000_000 / rate, atMost: 1_000_000 / RATE, unit: 'µs' },
      {
        what: `99 of 100 callers of ${CALLERS}, ${RATE}/s offered`,
        value: quantile(paced.waits, 0.99),
        atMost: 50,
        unit: 'ms',
      },
      {
        what: `last ${ENDS} targets of ${WINDOW_TARGETS}, beside the first`,
        value: (quantile(last, 0.5) ?? 0) / (quantile(first, 0.5) ?? 1),
        atMost: 1.5,
        unit: 'x',
      },
    ]
  } finally {
    await database.drop()
    await services.stop()
  }
}

async function measure(ground: Ground, quick: boolean) {
  const rounds = quick ? 1 : 3
  const pacedJoins = quick ? 2 * RATE : 5 * RATE
  const { transfers, projectId, ledger, close } = await openGround(ground)
  const rows: (string | number | undefined)[][] = []
  const used = () => process.cpuUsage().user + process.cpuUsage().system
  const note = async (what: string, joining: Promise<Joined>): Promise<Joined> => {
    const before = used()
    const joined = await joining
    const { seconds, waits } = joined
    const micros = (used() - before) / waits.length
    rows.push([what, waits.length / seconds, quantile(waits, 0.5), quantile(waits, 0.99), micros])
    return joined
  }
  const join = (file: string, from: number, count: number, callers: number) =>
    joinMany(transfers, projectId, { file, from, count, callers })
  try {
    let expected = 3_000 + 200
    await join('warm-up', 0, 3_000, CALLERS)
    await note('one caller alone', join('alone', 0, 200, 1))
    const first: number[] = []
    const last: number[] = []
    const closed: Joined = { seconds: 0, waits: [] }
    for (let round = 1; round <= rounds; round++) {
      const file = `round-${round}`
      const middle = WINDOW_TARGETS - 2 * ENDS
      first.push(...(await join(file, 0, ENDS, CALLERS_AT_ENDS)).waits)
      const { seconds, waits } = await note(`${CALLERS} callers`, join(file, ENDS, middle, CALLERS))
      closed.seconds += seconds
      closed.waits.push(...waits)
      last.push(...(await join(file, WINDOW_TARGETS - ENDS, ENDS, CALLERS_AT_ENDS)).waits)
      expected += WINDOW_TARGETS
    }
    const offered = { file: 'paced', perSecond: RATE, count: pacedJoins, callers: CALLERS }
    const paced = await note(`${RATE}/s offered by ${CALLERS}`, joinPaced(transfers, projectId, offered))
    await note(`${WINDOW_TARGETS} callers at once`, join('burst', 0, WINDOW_TARGETS, WINDOW_TARGETS))
    expected += pacedJoins + WINDOW_TARGETS
    printTable([ground.name, 'joins/s', 'median ms', 'p99 ms', 'own µs'], rows)
    const { count } = await ledger.db
      .selectFrom('transfer_targets')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    if (Number(count) !== expected) throw new Error(`the ledger has ${count} targets of ${expected}`)
    return { closed, paced, first, last }
  } finally {
    await close()
  }
}
