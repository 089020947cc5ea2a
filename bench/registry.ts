import type { Benchmark } from './benchmark.ts'

/** Loaded only when asked for: each benchmark brings its own peers. */
export const benchmarks: Record<string, () => Promise<Benchmark>> = {
  herd: () => import('./herd/index.ts'),
  idle: () => import('./idle/index.ts'),
  throughput: () => import('./throughput/index.ts'),
  history: () => import('./history/index.ts'),
  footprint: () => import('./footprint/index.ts'),
  exports: () => import('./exports/index.ts'),
  sql: () => import('./sql/index.ts'),
  runs: () => import('./runs/index.ts'),
  transfers: () => import('./transfers/index.ts'),
  processing: () => import('./processing/index.ts'),
  watchers: () => import('./watchers/index.ts'),
  console: () => import('./console/index.ts'),
}
