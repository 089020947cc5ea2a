import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Backend, openBackend } from '../../src/app/ground/open-backend.ts'
import type { Consumer, Wake } from '../../src/jobs/dispatch/dispatcher.ts'
import { type Dispatcher, Engine } from '../../src/jobs/index.ts'
import { createLog, systemClock } from '../../src/kernel/index.ts'
import { CONCURRENCY, type Contestant, type Opened } from './contestant.ts'

const log = createLog({ level: 'silent' })

export const wharfEmbedded: Contestant = {
  name: 'Wharf embedded',
  durable: 'SQLite, fsync before every answer; job, task and three events each',
  async open(_services, done) {
    const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
    const options = { dataDir: folder, databaseUrl: null, redisUrl: null, redisPrefix: '' }
    const backend = await openBackend(options, systemClock, log)
    return openEngine(backend, done, async () => rmSync(folder, { recursive: true, force: true }))
  },
}

export const wharfScaledOut: Contestant = {
  name: 'Wharf, PostgreSQL + Redis',
  durable: 'PostgreSQL, fsync before every answer; job, task and three events each; Redis only wakes',
  async open(services, done) {
    const database = await services.createDatabase()
    const options = {
      dataDir: tmpdir(),
      databaseUrl: database.url,
      redisUrl: services.redisUrl,
      redisPrefix: 'wharf',
    }
    return openEngine(await openBackend(options, systemClock, log), done, database.drop)
  },
}

async function openEngine(backend: Backend, done: () => void, after: () => Promise<void>): Promise<Opened> {
  const { ledger, dispatcher, bus, sole } = backend
  const held = new HeldDispatcher(dispatcher)
  const engine = new Engine(
    { ledger, dispatcher: held, bus, clock: systemClock, log },
    { version: 'bench', sole, drainMs: 1_000, defaultSlots: CONCURRENCY },
  )
  engine.define({ name: 'noop', run: async () => done() })
  await engine.start()
  return {
    async enqueue() {
      await engine.submit({ kind: 'noop', payload: null, tasks: [{}] })
    },
    work: async () => held.release(),
    async settled() {
      const open = ledger.db
        .selectFrom('jobs')
        .select('id')
        .where('state', 'in', ['pending', 'running'])
        .limit(1)
      // SQLite answers within the turn: those that still write must get a turn, too.
      while ((await open.execute()).length > 0) await nextTurn()
    },
    async close() {
      await engine.stop()
      await backend.close()
      await after()
    },
  }
}

/** Carries wakes as ever, but hands out none before its release: a backlog is wanted first. */
class HeldDispatcher implements Dispatcher {
  readonly #inner: Dispatcher
  readonly #held: (() => void)[] = []

  constructor(inner: Dispatcher) {
    this.#inner = inner
  }

  publish(wakes: readonly Wake[]): Promise<void> {
    return this.#inner.publish(wakes)
  }

  consume(pool: string, slots: number, take: (id: string) => Promise<void>): Consumer {
    let consumer: Consumer | undefined
    this.#held.push(() => (consumer = this.#inner.consume(pool, slots, take)))
    return { offer: (id) => consumer?.offer(id), stop: async () => consumer?.stop() }
  }

  release(): void {
    for (const start of this.#held.splice(0)) start()
  }

  forgot(): Promise<boolean> {
    return this.#inner.forgot()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
