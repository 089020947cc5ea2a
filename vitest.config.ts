import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/services.ts', 'test/support/built-console.ts'],
    // Generous: a slow machine must not fail a test that asserts no time.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Much of a test's time is waiting for processes that it started: two files at once even on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Tests kill processes and stop servers on machines that are busy with other things: on CI one more try is allowed.
    retry: process.env.CI ? 1 : 0,
  },
})
