import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Services, startServices } from '../services.ts'
import { type Load, type Measured, measure, type Program } from './measure.ts'

export const description = 'CreateTask + GetTaskStatus over gRPC at 64 callers, beside a bare grpc-js service'

const BAR = 0.8
const LOAD: Load = { callers: 64, warmUp: 1_200, tasks: 4_000 }

interface Contestant {
  name: string
  program: Program
  redis?: boolean
  postgres?: boolean
}

const CONTESTANTS: Contestant[] = [
  { name: 'bare grpc-js + Redis', program: 'bare', redis: true },
  { name: 'Wharf, SQLite + Redis', program: 'wharf', redis: true },
  { name: 'Wharf, PostgreSQL + Redis', program: 'wharf', redis: true, postgres: true },
  { name: 'Wharf, embedded', program: 'wharf' },
]

/**
 * Rounds alternate between the contestants, so that a slow moment of the machine meets all of them; medians are compared.
 * Each round starts from nothing: an empty Redis, an empty ledger, a folder of its own, and no other service beside it.
 */
export async function run(args: readonly string[]): Promise<boolean> {
  const rounds = args.includes('--quick') ? 2 : 5
  const services = await startServices()
  const results = new Map<string, Measured[]>(CONTESTANTS.map(({ name }) => [name, []]))
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  try {
    for (let round = 0; round < rounds; round++) {
      for (const contestant of CONTESTANTS) {
        results
          .get(contestant.name)
          ?.push(await runRound(contestant, services, mkdtempSync(join(folder, 'round-'))))
      }
    }
  } finally {
    await services.stop()
    // Not after each round: ext4 walks past freed inodes for minutes when it makes a folder, and the next round would pay.
    rmSync(folder, { recursive: true, force: true })
  }
  return print(results)
}

async function runRound(
  { program, redis, postgres }: Contestant,
  services: Services,
  folder: string,
): Promise<Measured> {
  const database = postgres ? await services.createDatabase() : undefined
  await services.emptyRedis()
  const env = {
    ...(redis && { REDIS_URL: services.redisUrl }),
    ...(database && { DATABASE_URL: database.url }),
  }
  try {
    return await measure(program, { folder, env }, LOAD)
  } finally {
    await database?.drop()
  }
}

function print(results: Map<string, Measured[]>): boolean {
  const [bare = Number.NaN] = [...results.values()].map((rounds) => middle(rounds, 'callsPerSecond'))
  console.log('\nservice                      calls/s  to bare  create p99 ms  status p99 ms  CPU us/call')
  let passed = true
  for (const [name, rounds] of results) {
    const rate = middle(rounds, 'callsPerSecond')
    passed &&= rate / bare >= BAR
    const cells = [
      rate.toFixed(0).padStart(8),
      `${((rate / bare) * 100).toFixed(0)} %`.padStart(8),
      middle(rounds, 'createP99').toFixed(1).padStart(14),
      middle(rounds, 'statusP99').toFixed(1).padStart(14),
      middle(rounds, 'cpuPerCall').toFixed(0).padStart(12),
    ]
    console.log([name.padEnd(27), ...cells].join(' '))
  }
  console.log(`\nload ${loadavg()[0]?.toFixed(1)} at the end (the benchmark itself makes some)`)
  console.log(`bar: at least ${BAR * 100} % of the bare service: ${passed ? 'PASS' : 'FAIL'}`)
  return passed
}

function middle(rounds: Measured[], field: keyof Measured): number {
  const sorted = rounds.map((round) => round[field]).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
