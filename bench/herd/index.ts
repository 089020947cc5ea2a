import { checkBars, printTable, quantile, ratio } from '../report.ts'
import { startServices } from '../services.ts'
import { Fleet } from './fleet.ts'
import { type Measured, measure, trickle } from './measure.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

export const description = 'what a task costs with 1, 10 and 50 idle instances: polling, its remedies, Wharf'

const SIZES = [1, 10, 50]
const RATE = 50
const COUNTED: SubjectName[] = ['poll', 'lock', 'shards', 'backoff', 'deaf', 'wharf', 'lane']

export async function run(args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick')
  const tasks = quick ? 100 : 400
  const asked = args
    .find((arg) => arg.startsWith('--only='))
    ?.slice('--only='.length)
    .split(',')
  const chosen = COUNTED.filter((subject) => !asked || asked.includes(subject))
  const services = await startServices()
  const measured: Measured[] = []
  try {
    for (const subject of chosen) {
      for (const instances of SIZES) {
        // A lane changes what a task costs, not what an idle instance does.
        const idle = !quick && subject !== 'lane'
        measured.push(await measure(services, subject, instances, { tasks, rate: RATE, idle }))
        console.error(`herd: ${subjects[subject].name}, ${instances} instances: done`)
      }
    }
  } finally {
    await services.stop()
  }
  const embedded = await embeddedLatency(tasks)
  print(measured, embedded)
  if (args.includes('--statements')) for (const cell of measured) printStatements(cell)
  return chosen.includes('wharf') ? checkBars(bars(measured, embedded, quick)) : true
}

async function embeddedLatency(tasks: number): Promise<number[]> {
  const fleet = new Fleet(1)
  try {
    await fleet.open('embedded', '', '')
    await trickle(fleet, 50, RATE)
    return await trickle(fleet, tasks, RATE)
  } finally {
    await fleet.close()
  }
}

function print(measured: readonly Measured[], embedded: number[]): void {
  const head = [
    'engine',
    'instances',
    'SQL/task',
    'Redis/task',
    'sum',
    'to 1 instance',
    'lost races/task',
    'median ms',
    'p99 ms',
    'bare commit ms',
    'idle/s/instance',
  ]
  const rows = measured.map((cell) => [
    subjects[cell.subject].name,
    cell.instances,
    cell.databasePerTask,
    cell.redisPerTask,
    perTask(cell),
    ratio(perTask(cell), perTask(find(measured, cell.subject, 1))),
    cell.lostRacesPerTask,
    cell.medianMs,
    cell.p99Ms,
    cell.commitMs,
    cell.idlePerSecond,
  ])
  const none = undefined
  const latencies = [quantile(embedded, 0.5), quantile(embedded, 0.99)]
  printTable(head, [
    ...rows,
    [subjects.embedded.name, 1, none, none, none, none, none, ...latencies, none, none],
  ])
}

/** What exactly is sent, for one cell: the first place to look when a number is too high. */
function printStatements({ subject, instances, tasks, statements, commands }: Measured): void {
  console.log(`\n${subjects[subject].name}, ${instances} instances, by command:`)
  printTable(
    ['a task', 'rows', 'what'],
    [
      ...statements.map(({ text, calls, rows }) => [
        calls / tasks,
        rows / tasks,
        text.replace(/\s+/g, ' ').slice(0, 110),
      ]),
      ...[...commands].map(([name, count]) => [count / tasks, undefined, `redis: ${name}`]),
    ],
  )
}

function bars(measured: readonly Measured[], embedded: number[], quick: boolean) {
  const [one, fifty] = [find(measured, 'wharf', 1), find(measured, 'wharf', 50)]
  const own = measured.filter(({ subject }) => subject === 'wharf')
  const worst = (value: (cell: Measured) => number | undefined) =>
    Math.max(...own.map((cell) => value(cell) ?? Number.NaN))
  const growth = (Math.abs(perTask(fifty) - perTask(one)) / perTask(one)) * 100
  const idle = { what: 'commands while idle', value: worst((cell) => cell.idlePerSecond), atMost: 0.5 }
  return [
    { what: 'commands per task, 1 against 50 instances', value: growth, atMost: 10, unit: '% apart' },
    { what: 'commands per task, at worst', value: worst(perTask), atMost: 12, unit: 'commands' },
    ...(quick ? [] : [{ ...idle, unit: '/s an instance' }]),
    {
      what: 'median pick-up, PostgreSQL + Redis, at worst',
      value: worst((c) => c.medianMs),
      atMost: 10,
      unit: 'ms',
    },
    { what: 'median pick-up, embedded', value: quantile(embedded, 0.5), atMost: 5, unit: 'ms' },
  ]
}

function find(measured: readonly Measured[], subject: SubjectName, instances: number): Measured {
  return measured.find((cell) => cell.subject === subject && cell.instances === instances) as Measured
}

function perTask({ databasePerTask, redisPerTask }: Measured): number {
  return databasePerTask + redisPerTask
}
