import { setTimeout as sleep } from 'node:timers/promises'
import { CommandCounter, total } from '../command-counter.ts'
import { CommitProbe } from '../commit-probe.ts'
import { quantile } from '../report.ts'
import type { Services } from '../services.ts'
import { type Statement, StatementCounter } from '../statement-counter.ts'
import { Fleet } from './fleet.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

export interface Measured {
  subject: SubjectName
  instances: number
  tasks: number
  databasePerTask: number
  redisPerTask: number
  lostRacesPerTask: number
  medianMs: number | undefined
  p99Ms: number | undefined
  idlePerSecond: number | undefined
  /** A bare commit, at the same time on the same server. */
  commitMs: number | undefined
  statements: Statement[]
  commands: Map<string, number>
}

export interface MeasureOptions {
  tasks: number
  /** Tasks a second, at random moments, as tasks come that know nothing of one another. */
  rate: number
  idle: boolean
}

/** How long the last task may take to be picked up, and its end to be written. */
const PATIENCE_MS = 60_000
const SETTLE_MS = 1_000

/** One cell of the table: a fresh database, `instances` instances, a look at them idle, then the trickle. */
export async function measure(
  services: Services,
  subject: SubjectName,
  instances: number,
  { tasks, rate, idle }: MeasureOptions,
): Promise<Measured> {
  const database = await services.createDatabase()
  await services.emptyRedis()
  const statements = new StatementCounter(services.adminUrl, database.name)
  const commands = new CommandCounter(services.redisUrl)
  const fleet = new Fleet(instances)
  try {
    await statements.open()
    await commands.open()
    await subjects[subject].prepare(database.url)
    await fleet.open(subject, database.url, services.redisUrl)
    await warmUp(fleet)
    const idlePerSecond = idle
      ? await idleRate(statements, commands, subjects[subject].idleSeconds)
      : undefined
    await statements.mark()
    await commands.mark()
    const probe = new CommitProbe(services.adminUrl)
    await probe.start()
    const latencies = await trickle(fleet, tasks, rate)
    const commitMs = await probe.stop()
    await sleep(SETTLE_MS)
    const sent = { statements: await statements.sinceMark(), commands: await commands.sinceMark() }
    return {
      subject,
      instances,
      tasks,
      databasePerTask: calls(sent.statements) / tasks,
      redisPerTask: total(sent.commands) / tasks,
      lostRacesPerTask: subjects[subject].lostRaces(sent.statements, sent.commands) / tasks,
      medianMs: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      idlePerSecond: idlePerSecond === undefined ? undefined : idlePerSecond / instances,
      commitMs,
      ...sent,
    }
  } finally {
    await fleet.close()
    await statements.close()
    commands.close()
    await database.drop()
  }
}

/** Every instance has enqueued something before anything is counted: connections are open, scripts are loaded. */
async function warmUp(fleet: Fleet): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await Promise.all(Array.from({ length: fleet.size }, () => fleet.enqueue()))
    await everyTaskStarted(fleet)
  }
  await sleep(SETTLE_MS)
}

async function idleRate(
  statements: StatementCounter,
  commands: CommandCounter,
  seconds: number,
): Promise<number> {
  await statements.mark()
  await commands.mark()
  await sleep(seconds * 1_000)
  return (calls(await statements.sinceMark()) + total(await commands.sinceMark())) / seconds
}

/** Milliseconds from commit to the handler's start, for each task. */
export async function trickle(fleet: Fleet, tasks: number, rate: number): Promise<number[]> {
  const before = await fleet.report()
  const enqueued: Promise<void>[] = []
  const start = performance.now()
  let at = 0
  for (let task = 0; task < tasks; task++) {
    at += (-Math.log(1 - Math.random()) / rate) * 1_000
    await sleep(Math.max(0, start + at - performance.now()))
    enqueued.push(fleet.enqueue())
  }
  await Promise.all(enqueued)
  const { committed, started } = await everyTaskStarted(fleet)
  return [...committed]
    .filter(([id]) => !before.committed.has(id))
    .map(([id, committedAt]) => (started.get(id) as number) - committedAt)
}

async function everyTaskStarted(fleet: Fleet): ReturnType<Fleet['report']> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const seen = await fleet.report()
    const missing = [...seen.committed.keys()].filter((id) => !seen.started.has(id)).length
    if (missing === 0) return seen
    if (performance.now() > deadline) throw new Error(`${missing} tasks were never picked up`)
    await sleep(100)
  }
}

function calls(statements: readonly Statement[]): number {
  return statements.reduce((sum, statement) => sum + statement.calls, 0)
}
