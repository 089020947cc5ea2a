import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { FileOrder } from './test/support/file-order.ts'
import { LIMIT_MS } from './test/support/until.ts'

// Of the order of files (FileOrder). It is printed; with TEST_SEED an order comes back.
const seed = Number(process.env.TEST_SEED ?? Date.now())

// Every worker, and every process that tests start, would compile the same hundreds of modules again.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/wharf-tests', import.meta.url))

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/find-binary.ts', 'test/support/services.ts', 'test/support/built-console.ts'],
    setupFiles: ['test/support/setup.ts'],
    // Longer than any wait within a test: those say what they waited for.
    testTimeout: 2 * LIMIT_MS,
    hookTimeout: 2 * LIMIT_MS,
    // One fault in what many tests share makes each of them wait in vain: enough is known after a few, and a run has an end.
    bail: 12,
    teardownTimeout: LIMIT_MS,
    expect: { poll: { timeout: LIMIT_MS } },
    pool: 'forks',
    // The files of a worker share its process, and with it the modules: to load them anew for each costs more than most tests.
    // What a file changes in the process is set back by setup.ts.
    isolate: false,
    // Node runs the sources and the tests as they are, as it does in production: no transformation, and nothing to mock.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A third of a test's time is waiting for processes that it started: more files at once than there are cores.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: FileOrder, seed },
  },
})
