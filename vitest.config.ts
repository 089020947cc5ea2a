import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/services.ts', 'test/support/built-console.ts'],
    // Generous: a slow machine must not fail a test that asserts no time.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Tests kill processes and stop servers on machines that are busy with other things: on CI a second try is allowed.
    retry: process.env.CI ? 2 : 0,
  },
})
