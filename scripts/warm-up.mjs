// Starts the server once, on nothing and for nobody, so that even the first start finds everything compiled. Runs on
// Node 24, with the same flags as the command: what was compiled under others does not count.
import '../bin/tune.mjs'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { startWharf } = await import('../src/app/serve.ts')
const { loadConfig } = await import('../src/config.ts')
const folder = mkdtempSync(join(tmpdir(), 'wharf-warm-up-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const settings = {
  WHARF_DATA_DIR: folder,
  WHARF_PORT: '0',
  TASK_GRPC_PORT: '0',
  WHARF_LOG_LEVEL: 'error',
}
const wharf = await startWharf(loadConfig(settings))
await fetch(`${wharf.address}/readyz`)
await wharf.stop()
// What is loaded at the first use of it.
await import('undici')
await import('../src/processing/uploads.ts')
await import('../src/cli/serve.ts')
// The command itself comes last, because it ends the process.
process.argv.splice(2, Number.POSITIVE_INFINITY, '--version')
await import('../src/main.ts')
