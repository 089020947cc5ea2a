import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Carrier, Carriers, FileOf } from '../../src/carriers/index.ts'
import { register } from '../../src/domain/index.ts'
import { Engine } from '../../src/jobs/index.ts'
import { type Clock, newId } from '../../src/kernel/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { DiskStore } from '../../src/storage/index.ts'
import type { Transfers } from '../../src/transfers/index.ts'
import { openTransfers } from '../../src/transfers/index.ts'
import { TransferMirror } from '../../src/transfers/mirror/transfer-mirror.ts'
import { type BackendName, openBackend, silentLog } from './backends.ts'
import { groundOf } from './ground.ts'
import { LedgerClock } from './ledger-clock.ts'
import { RecordingEngine } from './recording-engine.ts'

export interface TransferInstance {
  engine: Engine
  transfers: Transfers
  mirror: TransferMirror | undefined
  /** The file of a task that another instance began. */
  fileOf: FileOf
  dataDir: string
}

export interface TransfersSetup {
  instances?: number
  carrier?: Carrier
  settings?: Partial<Parameters<typeof openTransfers>[1]>
  /** Stands between the instances and the repository's files. */
  store?: (inner: DiskStore) => DiskStore
}

export const WINDOW_SECONDS = 15

const NO_AGENTS: Carriers['agents'] = {
  agents: async () => [],
  enrolled: async () => [],
  invite: () => Promise.reject(new Error('no agents here')),
  revoke: () => Promise.reject(new Error('no agents here')),
}

/**
 * Instances on one ledger whose clock the test moves. They take no work by themselves: `runDue` does it, so that the
 * test says who runs what when.
 */
export async function setupTransfers(name: BackendName, options: TransfersSetup = {}) {
  const clock = new LedgerClock()
  const recording = new RecordingEngine()
  const backend = await openBackend(name)
  const { REDIS_URL: redisUrl, WHARF_REDIS_PREFIX } = backend.env
  const ledger = await backend.openLedger(clock)
  await clock.govern(ledger)
  const folder = mkdtempSync(join(tmpdir(), 'wharf-transfers-'))
  const disk = await DiskStore.open({ clock }, { root: join(folder, 'files') })
  const store = options.store?.(disk) ?? disk
  const closers: (() => Promise<void>)[] = []
  const instances: TransferInstance[] = []
  for (let index = 0; index < (options.instances ?? 1); index++) {
    const dataDir = join(folder, `instance-${index}`)
    const dispatcher = backend.openDispatcher()
    const bus = await backend.openBus()
    const engine = newEngine({ ledger, dispatcher, bus, clock })
    let fileOf: FileOf = async () => undefined
    const domain = await openTransfers(groundOf({ engine, ledger, bus, store, clock }), {
      carriers: async (files) => {
        fileOf = files
        return { carrier: options.carrier ?? recording, agents: NO_AGENTS }
      },
      exportFile: async () => Promise.reject(new Error('no exports here')),
      dataDir,
      windowSeconds: WINDOW_SECONDS,
      timeoutSeconds: 600,
      ttlSeconds: 1800,
      maxFileBytes: 1024 * 1024,
      redis: redisUrl === undefined ? null : { url: redisUrl, prefix: WHARF_REDIS_PREFIX ?? 'wharf' },
      ...options.settings,
    })
    register(engine, domain)
    const mirror = domain.duties.map(({ duty }) => duty).find((duty) => duty instanceof TransferMirror)
    closers.push(async () => {
      await domain.stop()
      engine.feed.close()
      await dispatcher.close()
      await bus.close()
    })
    instances.push({ engine, transfers: domain.api, mirror, fileOf, dataDir })
  }
  onTestFinished(async () => {
    for (const close of closers) await close()
    await ledger.close()
    await backend.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  const projectId = await newProject(ledger)
  return {
    clock,
    ledger,
    backend,
    store: disk,
    carrier: recording,
    instances,
    projectId,
    first: instances[0]!,
  }
}

function newEngine(deps: Omit<ConstructorParameters<typeof Engine>[0], 'log'> & { clock: Clock }): Engine {
  return new Engine({ ...deps, log: silentLog }, { version: 'test', sole: false, leaseMs: 24 * 3_600_000 })
}

/** A row is all that transfers know of a project. */
export async function newProject(ledger: Ledger): Promise<string> {
  const id = newId()
  await ledger.db
    .insertInto('projects')
    .values({ id, name: 'test', webhook_secret: '', created_at: 0 })
    .execute()
  return id
}

/** Lets one instance take every job of this kind that is due, and waits until they are through. */
export async function runDue({ engine }: TransferInstance, kind = 'transfer'): Promise<number> {
  const now = await engine.ledger.now()
  const due = await engine.ledger.db
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', kind)
    .where('state', '=', 'pending')
    .where('due_at', '<=', now)
    .execute()
  await Promise.all(due.map(({ id }) => engine.worker.take(id)))
  return due.length
}

export const CONTENT = Buffer.from('what is delivered\n')
export const SIGNATURE = createHash('sha256').update(CONTENT).digest('hex')

export async function* bytes(content: Buffer = CONTENT): AsyncGenerator<Buffer> {
  yield content
}

/** A request as a caller would send it. */
export function request(more: Record<string, unknown> = {}) {
  return {
    biz_id: 1,
    app_id: 2,
    file_path: '/release/v1',
    file_name: 'app.bin',
    file_signature: SIGNATURE,
    target_agent_id: 'agent-1',
    target_container_id: '',
    target_user: 'root',
    target_file_dir: '/opt/app',
    ...more,
  }
}
