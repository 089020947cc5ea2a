// Loads the server without starting it, so that even the first start finds everything compiled. Runs on Node 24, with
// the same flags as the command: what was compiled under others does not count.
import '../bin/tune.mjs'

await import('../src/cli/serve.ts')
