import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMsOfTree } from '../cpu-time.ts'
import { printTable, ratio } from '../report.ts'
import { type Services, startServices } from '../services.ts'
import { bullmq } from './bullmq.ts'
import { CONCURRENCY, type Contestant } from './contestant.ts'
import { graphile, graphileBatched } from './graphile-worker.ts'
import { pgBossLoop, pgBossWork } from './pg-boss.ts'
import { wharfEmbedded, wharfScaledOut } from './wharf.ts'

export const description =
  'no-op jobs per second, in and through: Wharf beside BullMQ, pg-boss, graphile-worker'

const CONTESTANTS = [wharfEmbedded, wharfScaledOut, graphile, graphileBatched, pgBossLoop, pgBossWork, bullmq]
/** Rounds go round the contestants, so that a busy moment of the machine does not hit only one of them. */
const ROUNDS = 3
const PATIENCE_MS = 120_000

interface Speed {
  in: number
  through: number
  /** Processor time per job, of this process and its servers: what holds on a machine that is busy with other things. */
  inCpu: number
  throughCpu: number
}

export async function run(args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick')
  const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length)
  const contestants = CONTESTANTS.filter(
    ({ name }) => !only || name.toLowerCase().includes(only.toLowerCase()),
  )
  const jobs = quick ? 300 : 3_000
  const services = await startServices()
  const best = new Map<Contestant, Speed>()
  try {
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
      for (const contestant of contestants) {
        // work() takes 64 jobs per second, however many there are.
        const count = contestant === pgBossWork ? Math.min(jobs, 300) : jobs
        const speed = await race(services, contestant, count)
        const before = best.get(contestant) ?? speed
        best.set(contestant, {
          in: Math.max(before.in, speed.in),
          through: Math.max(before.through, speed.through),
          inCpu: Math.min(before.inCpu, speed.inCpu),
          throughCpu: Math.min(before.throughCpu, speed.throughCpu),
        })
      }
    }
  } finally {
    await services.stop()
  }
  print(best)
  return true
}

async function race(services: Services, contestant: Contestant, jobs: number): Promise<Speed> {
  await services.emptyRedis()
  let done = 0
  const opened = await contestant.open(services, () => done++)
  try {
    const taken = await timed(() => enqueueAll(jobs, opened.enqueue))
    const worked = await timed(async () => {
      await opened.work()
      const deadline = performance.now() + PATIENCE_MS
      while (done < jobs) {
        if (performance.now() > deadline) throw new Error(`${contestant.name} did ${done} of ${jobs} jobs`)
        await sleep(2)
      }
      await opened.settled?.()
    })
    return {
      in: (jobs * 1_000) / taken.ms,
      through: (jobs * 1_000) / worked.ms,
      inCpu: (taken.cpuMs * 1_000) / jobs,
      throughCpu: (worked.cpuMs * 1_000) / jobs,
    }
  } finally {
    await opened.close()
  }
}

/** One call a job, as when requests come in one by one, a fixed number of them under way. */
async function enqueueAll(jobs: number, enqueue: () => Promise<void>): Promise<void> {
  let left = jobs
  const producer = async () => {
    while (left-- > 0) await enqueue()
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, producer))
}

async function timed(work: () => Promise<void>): Promise<{ ms: number; cpuMs: number }> {
  const cpuBefore = cpuMsOfTree(process.pid)
  const start = performance.now()
  await work()
  return { ms: performance.now() - start, cpuMs: cpuMsOfTree(process.pid) - cpuBefore }
}

function print(speeds: Map<Contestant, Speed>): void {
  const base = speeds.get(wharfScaledOut)
  printTable(
    ['engine', 'in/s', 'to Wharf', 'CPU µs', 'through/s', 'to Wharf', 'CPU µs', 'what survives a power cut'],
    [...speeds].map(([{ name, durable }, speed]) => [
      name,
      speed.in,
      ratio(speed.in, base?.in),
      Math.round(speed.inCpu),
      speed.through,
      ratio(speed.through, base?.through),
      Math.round(speed.throughCpu),
      durable,
    ]),
  )
  console.log(
    `\nOne process for each, ${CONCURRENCY} jobs in hand, best of the rounds; "to Wharf" is to Wharf on PostgreSQL + Redis. CPU: per job, of the process and its servers.`,
  )
}
