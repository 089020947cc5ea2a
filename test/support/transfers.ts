import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Carrier } from '../../src/carriers/index.ts'
import { Engine } from '../../src/jobs/index.ts'
import { type Clock, newId } from '../../src/kernel/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { DiskStore } from '../../src/storage/index.ts'
import { Quotas } from '../../src/tenancy/index.ts'
import { NO_QUOTAS } from '../../src/tenancy/quotas.ts'
import { openTransfers } from '../../src/transfers/index.ts'
import type { OpenedTransfers } from '../../src/transfers/open-transfers.ts'
import { type BackendName, openBackend, silentLog } from './backends.ts'
import { LedgerClock } from './ledger-clock.ts'
import { RecordingEngine } from './recording-engine.ts'

export interface TransferInstance extends OpenedTransfers {
  engine: Engine
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

/**
 * Instances on one ledger whose clock the test moves. They take no work by themselves: `runDue` does it, so that the
 * test says who runs what when.
 */
export async function setupTransfers(name: BackendName, options: TransfersSetup = {}) {
  const clock = new LedgerClock()
  const recording = new RecordingEngine()
  const backend = await openBackend(name)
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
    const opened = await openTransfers(
      {
        engine,
        ledger,
        store,
        quotas: new Quotas({ ledger, clock }, NO_QUOTAS),
        clock,
        log: silentLog,
        carrier: options.carrier ?? recording,
        agents: {
          agents: async () => [],
          enrolled: async () => [],
          invite: () => Promise.reject(new Error('no agents here')),
          revoke: () => Promise.reject(new Error('no agents here')),
        },
        exportFile: async () => Promise.reject(new Error('no exports here')),
      },
      {
        dataDir,
        windowSeconds: WINDOW_SECONDS,
        timeoutSeconds: 600,
        ttlSeconds: 1800,
        maxFileBytes: 1024 * 1024,
        redisUrl: backend.env.REDIS_URL ?? null,
        redisPrefix: backend.env.WHARF_REDIS_PREFIX ?? 'wharf',
        ...options.settings,
      },
    )
    closers.push(async () => {
      await opened.mirror?.stop()
      engine.feed.close()
      await dispatcher.close()
      await bus.close()
    })
    instances.push({ ...opened, engine, dataDir })
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
