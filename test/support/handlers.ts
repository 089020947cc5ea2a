import type { JobContext } from '../../src/jobs/index.ts'
import { until } from './until.ts'

/** One run of a job that does what the test tells it to. */
export interface Run {
  context: JobContext
  /** The handler returns this. */
  finish(result?: unknown): void
  /** The handler throws this. */
  fail(error: unknown): void
}

/**
 * A handler whose runs are led by hand. By default a run ends when its signal aborts, like every good handler;
 * a stubborn one goes on until the test ends it.
 */
export function ledByHand(name: string, { stubborn = false } = {}) {
  const runs: Run[] = []
  return {
    runs,
    kind: {
      name,
      run: (context: JobContext) =>
        new Promise<unknown>((finish, fail) => {
          runs.push({ context, finish, fail })
          const { signal } = context
          if (!stubborn) signal.addEventListener('abort', () => fail(signal.reason), { once: true })
        }),
    },
    /** Resolves with the run of this number, counted from 1, once it has begun. */
    nth: (number: number): Promise<Run> =>
      until(`run ${number} of ${name} has begun`, () => runs[number - 1]),
  }
}
