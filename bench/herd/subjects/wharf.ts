import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Backend, openBackend } from '../../../src/app/ground/open-backend.ts'
import { Engine } from '../../../src/jobs/index.ts'
import type { Lane } from '../../../src/jobs/kind.ts'
import { createLog, systemClock } from '../../../src/kernel/index.ts'
import type { Ground, Instance, Subject } from './subject.ts'

const log = createLog({ level: 'silent' })
const KIND = 'noop'

/** Wharf's own engine as an instance of a scaled-out installation. */
export function wharf(name: string, lane?: Lane): Subject {
  return {
    name,
    // Two periods of the slowest tick, the heartbeat of 30 s.
    idleSeconds: 60,
    // A worker whose claim was refused asks once whether it came too early.
    lostRaces: (statements) =>
      statements
        .filter(({ text }) => text.startsWith('select "kind", due_at - wharf_now()'))
        .reduce((sum, { calls }) => sum + calls, 0),
    // The first instance to start makes the tables.
    prepare: async () => undefined,
    async open({ databaseUrl, redisUrl }: Ground, started) {
      const options = { dataDir: tmpdir(), databaseUrl, redisUrl, redisPrefix: 'wharf' }
      return startInstance(await openBackend(options, systemClock, log), lane, started)
    },
  }
}

/** Wharf in one process on SQLite: for its pick-up latency, as there is no server that could count. */
export function wharfEmbedded(name: string): Subject {
  return {
    name,
    idleSeconds: 0,
    lostRaces: () => 0,
    prepare: async () => undefined,
    async open(_ground, started) {
      const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
      const options = { dataDir: folder, databaseUrl: null, redisUrl: null, redisPrefix: '' }
      const instance = await startInstance(await openBackend(options, systemClock, log), undefined, started)
      return {
        enqueue: (committed) => instance.enqueue(committed),
        async close() {
          await instance.close()
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}

async function startInstance(
  backend: Backend,
  lane: Lane | undefined,
  started: (id: string) => void,
): Promise<Instance> {
  const { ledger, dispatcher, bus, sole } = backend
  const deps = { ledger, dispatcher, bus, clock: systemClock, log }
  const engine = new Engine(deps, { version: 'bench', sole, drainMs: 0 })
  engine.define({ name: KIND, ...(lane && { lane }), run: async ({ job }) => started(job.id) })
  await engine.start()
  return {
    async enqueue(committed) {
      const { jobId } = await ledger.transaction((tx) => {
        tx.afterCommit(committed)
        return engine.enqueue(tx, { kind: KIND, payload: null, tasks: [{}] })
      })
      return jobId
    },
    async close() {
      await engine.stop()
      await backend.close()
    },
  }
}
