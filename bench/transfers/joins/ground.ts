import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBackend } from '../../../src/app/ground/open-backend.ts'
import { register } from '../../../src/domain/index.ts'
import { Engine } from '../../../src/jobs/index.ts'
import { createLog, newId, systemClock } from '../../../src/kernel/index.ts'
import { DiskStore } from '../../../src/storage/index.ts'
import { openTransfers } from '../../../src/transfers/index.ts'
import { groundOf } from '../../../test/support/ground.ts'

const WINDOW_SECONDS = 3_600
const log = createLog({ level: 'silent' })

/** What joins run on; null: SQLite, and no mirror. */
export interface Ground {
  name: string
  databaseUrl: string | null
  redisUrl: string | null
}

/** Transfers on that ground, without an engine: windows stay open. */
export async function openGround({ databaseUrl, redisUrl }: Ground) {
  const dataDir = await mkdtemp(join(tmpdir(), 'wharf-bench-'))
  const backend = await openBackend(
    { dataDir, databaseUrl, redisUrl, redisPrefix: 'bench' },
    systemClock,
    log,
  )
  const { ledger } = backend
  const engine = new Engine({ ...backend, clock: systemClock, log }, { version: 'bench', sole: false })
  const store = await DiskStore.open({ clock: systemClock }, { root: join(dataDir, 'files') })
  const refuse = () => Promise.reject(new Error('nothing is carried here'))
  const domain = await openTransfers(
    groundOf({ engine, ledger, bus: backend.bus, store, clock: systemClock }),
    {
      carriers: async () => ({
        carrier: { start: refuse, result: refuse, terminate: refuse },
        agents: { agents: async () => [], enrolled: async () => [], invite: refuse, revoke: refuse },
      }),
      exportFile: refuse,
      dataDir,
      windowSeconds: WINDOW_SECONDS,
      timeoutSeconds: 600,
      ttlSeconds: 1800,
      maxFileBytes: 1,
      redis: redisUrl === null ? null : { url: redisUrl, prefix: 'bench' },
    },
  )
  register(engine, domain)
  const projectId = newId()
  await ledger.db
    .insertInto('projects')
    .values({ id: projectId, name: 'bench', webhook_secret: '', created_at: 0 })
    .execute()
  return {
    transfers: domain.api,
    ledger,
    projectId,
    async close() {
      await domain.stop()
      engine.feed.close()
      await backend.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
