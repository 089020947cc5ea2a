import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeMeta } from '../../src/exports/sources/spool/spool-meta.ts'
import { ExportClient } from './export-client.ts'
import { ADMIN_TOKEN, asking, newProject } from './http.ts'
import { serveWharf, temporaryFolder } from './wharf-process.ts'

/** A server process that can be killed and started again on the same data, and a client that finds it each time. */
export async function startExportProcess(env: Record<string, string> = {}) {
  const settings = {
    WHARF_DATA_DIR: temporaryFolder(),
    WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
    WHARF_LOG_LEVEL: 'info',
    WHARF_RATE_LIMIT: '10000/s',
    ...env,
  }
  let server = await serveWharf(settings)
  const ask = asking(() => server.address)
  return {
    ask,
    dataDir: settings.WHARF_DATA_DIR,
    newClient: async () => new ExportClient(ask, await newProject({ ask })),
    async kill() {
      server.child.kill('SIGKILL')
      await server.exited
    },
    async start(more: Record<string, string> = {}) {
      server = await serveWharf({ ...settings, ...more })
    },
    /** What the process that runs now has logged with this message. */
    logged: (message: string) =>
      server.output.out
        .split('\n')
        .filter((line) => line.startsWith('{') && line.includes(message))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    /** Whole pages that are safe on disk. */
    safePages: () => safePages(settings.WHARF_DATA_DIR),
    /** Whether a file is being built. */
    builds: () => spoolFiles(settings.WHARF_DATA_DIR).some((name) => /(^|\/)out\/./.test(name)),
  }
}

function spoolFiles(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, 'spool'), { recursive: true, encoding: 'utf8' })
  } catch {
    return [] // nothing yet, or a folder was taken away while it was read
  }
}

function safePages(dataDir: string): number {
  const name = spoolFiles(dataDir).find((file) => file.endsWith('.meta'))
  if (!name) return 0
  try {
    const meta = decodeMeta(readFileSync(join(dataDir, 'spool', name), 'utf8'))
    return meta?.ranges.reduce((sum, { first, next }) => sum + next - first, 0) ?? 0
  } catch {
    return 0 // renamed in this very moment
  }
}
