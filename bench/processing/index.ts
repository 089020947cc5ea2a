import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import { hire, type Measured } from './measure.ts'

export const description = 'CreateTask + GetTaskStatus over gRPC at 64 callers, beside a bare grpc-js service'

const CALLERS = 64
const BAR = 0.8

/** Rounds alternate between the contestants, so that a slow moment of the machine meets all of them. */
export async function run(args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick')
  const rounds = quick ? 2 : 5
  const seconds = quick ? 2 : 6
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  const redis = await startRedis()
  const postgres = await startPostgres()
  if (!redis || !postgres) {
    console.error(
      'processing: needs redis-server and postgresql (Debian: apt-get install redis-server postgresql)',
    )
    return false
  }
  const plain = { REDIS_URL: redis.url }
  const contestants = [
    hire('bare grpc-js + Redis', 'bare', { folder: join(folder, 'bare'), env: plain }),
    hire('Wharf, SQLite + Redis', 'wharf', { folder: join(folder, 'redis'), env: plain }),
    hire('Wharf, PostgreSQL + Redis', 'wharf', {
      folder: join(folder, 'postgres'),
      env: { ...plain, DATABASE_URL: postgres.url },
    }),
    hire('Wharf, embedded', 'wharf', { folder: join(folder, 'embedded'), env: {} }),
  ]
  const results = new Map<string, Measured[]>()
  try {
    for (let round = 0; round < rounds; round++) {
      for (const contestant of contestants) {
        const measured = await contestant.round({ callers: CALLERS, seconds })
        results.set(contestant.name, [...(results.get(contestant.name) ?? []), measured])
      }
    }
  } finally {
    await redis.remove()
    await postgres.remove()
    rmSync(folder, { recursive: true, force: true })
  }
  return print(results)
}

function print(results: Map<string, Measured[]>): boolean {
  const rate = (rounds: Measured[]) => median(rounds.map(({ callsPerSecond }) => callsPerSecond))
  const bare = rate([...results.values()][0] ?? [])
  console.log('\nservice                      calls/s  to bare  create p99 ms  status p99 ms  CPU us/call')
  let passed = true
  for (const [name, rounds] of results) {
    const share = rate(rounds) / bare
    passed &&= share >= BAR
    console.log(
      [
        name.padEnd(27),
        rate(rounds).toFixed(0).padStart(8),
        `${(share * 100).toFixed(0)} %`.padStart(8),
        median(rounds.map(({ createP99 }) => createP99))
          .toFixed(1)
          .padStart(14),
        median(rounds.map(({ statusP99 }) => statusP99))
          .toFixed(1)
          .padStart(14),
        median(rounds.map(({ cpuPerCall }) => cpuPerCall))
          .toFixed(0)
          .padStart(12),
      ].join(' '),
    )
  }
  console.log(`\nbar: at least ${BAR * 100} % of the bare service: ${passed ? 'PASS' : 'FAIL'}`)
  return passed
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
