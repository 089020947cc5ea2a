import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/services.ts'],
    // Generous: a slow machine must not fail a test that asserts no time.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
})
