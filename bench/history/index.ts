import { checkBars, printTable, ratio } from '../report.ts'
import { startServices } from '../services.ts'
import { type Cost, Subject } from './subject.ts'

export const description = 'what a task and a POST cost with 0 to 1,000,000 finished jobs in the ledger'

const SIZES = [0, 10_000, 100_000, 1_000_000]
const QUICK_SIZES = [0, 2_000, 20_000]
const MOST_GROWTH = 1.2
const LEDGERS = ['embedded', 'postgres + redis'] as const

/**
 * The real `wharf serve` on ledgers of different age, all of them at once. Rounds go round the ledgers, so that a busy
 * moment of the machine does not hit only one of them. The bar is on processor time, of the server and of the database's
 * own processes, because wall time depends on the machine's other work.
 */
export async function run(args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick')
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1]
  const most = Number(option('most') ?? Number.POSITIVE_INFINITY)
  const sizes = (quick ? QUICK_SIZES : SIZES).filter((size) => size <= most)
  const rounds = quick ? 3 : 5
  const tasks = quick ? 40 : 60
  const only = option('only') ?? ''
  const services = await startServices()
  let passed = true
  try {
    for (const ledger of LEDGERS.filter((name) => name.includes(only))) {
      const subjects: Subject[] = []
      try {
        for (const size of sizes) subjects.push(await Subject.open(ledger, size, services))
        const costs = subjects.map((): Cost[] => [])
        // The first round warms up and does not count.
        for (let round = 0; round <= rounds; round++)
          for (const [index, subject] of subjects.entries()) {
            const cost = await subject.measure(tasks)
            if (round > 0) costs[index]?.push(cost)
          }
        passed = report(ledger, sizes, costs) && passed
      } finally {
        for (const subject of subjects) await subject.close()
      }
    }
  } finally {
    await services.stop()
  }
  return passed
}

function report(ledger: string, sizes: number[], costs: Cost[][]): boolean {
  const of = (index: number, what: keyof Cost) => median(costs[index]?.map((cost) => cost[what]) ?? [])
  console.log(`\n### ${ledger}: medians of ${costs[0]?.length} rounds`)
  printTable(
    ['finished jobs', 'CPU ms per task', '', 'CPU ms per POST', '', 'wall ms per task', 'wall ms per POST'],
    sizes.map((size, index) => [
      size,
      of(index, 'taskCpuMs'),
      ratio(of(index, 'taskCpuMs'), of(0, 'taskCpuMs')),
      of(index, 'postCpuMs'),
      ratio(of(index, 'postCpuMs'), of(0, 'postCpuMs')),
      of(index, 'taskWallMs'),
      of(index, 'postWallMs'),
    ]),
  )
  const last = sizes.length - 1
  const bar = (what: string, key: 'taskCpuMs' | 'postCpuMs') => ({
    what: `${what}, ${sizes[last]?.toLocaleString('en')} against none`,
    value: of(last, key) / of(0, key),
    atMost: MOST_GROWTH,
    unit: 'times',
  })
  return checkBars([bar('CPU per task', 'taskCpuMs'), bar('CPU per POST', 'postCpuMs')])
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
