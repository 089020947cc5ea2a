import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog, systemClock } from '../../src/kernel/index.ts'
import { migrate } from '../../src/ledger/index.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'
import { fillHistory } from '../../test/support/history.ts'
import { execute, type Services } from '../services.ts'
import { WharfServer } from '../wharf-server.ts'
import { BackendTimes } from './backend-times.ts'
import { HeldSource } from './held-source.ts'

export interface Cost {
  postCpuMs: number
  postWallMs: number
  taskCpuMs: number
  taskWallMs: number
}

/** Exports that are asked for at a time. */
const CALLERS = 4

/** A server on a ledger with this many finished jobs, and a project that asks it for exports of one row. */
export class Subject {
  readonly #server: WharfServer
  readonly #key: string
  readonly #projectId: string
  readonly #database: BackendTimes | undefined
  readonly #source: HeldSource
  readonly #remove: () => Promise<void>

  private constructor(
    server: WharfServer,
    project: { api_key: string; project_id: string },
    database: BackendTimes | undefined,
    source: HeldSource,
    remove: () => Promise<void>,
  ) {
    this.#server = server
    this.#key = project.api_key
    this.#projectId = project.project_id
    this.#database = database
    this.#source = source
    this.#remove = remove
  }

  static async open(
    ledger: 'embedded' | 'postgres + redis',
    finished: number,
    services: Services,
  ): Promise<Subject> {
    const folder = mkdtempSync(join(tmpdir(), 'wharf-history-'))
    const database = ledger === 'embedded' ? undefined : await services.createDatabase()
    const settings: Record<string, string> = {
      WHARF_DATA_DIR: folder,
      WHARF_LOG_LEVEL: 'warn',
      WHARF_RATE_LIMIT: '100000/s',
    }
    if (database)
      Object.assign(settings, {
        DATABASE_URL: database.url,
        REDIS_URL: services.redisUrl,
        WHARF_REDIS_PREFIX: database.name,
      })
    const before = await WharfServer.start(settings)
    const projects: { api_key: string; project_id: string }[] = []
    for (const name of ['first', 'second', 'third'])
      projects.push(await before.ask('POST', '/api/projects', { name }))
    await before.stop()
    const [first, ...others] = projects
    if (!first) throw new Error('no project was made')
    const filling = performance.now()
    if (finished > 0) {
      const opened = database
        ? await openPostgresLedger(database.url, createLog({ level: 'silent' }))
        : openSqliteLedger(folder, systemClock)
      await migrate(opened)
      await fillHistory(opened, {
        to: finished,
        projects: [first.project_id, ...others.map(({ project_id }) => project_id)],
      })
      await opened.close()
      if (database) await execute(database.url, 'checkpoint')
    }
    const seconds = ((performance.now() - filling) / 1_000).toFixed(0)
    console.log(`${ledger}: ${finished.toLocaleString('en')} finished jobs written in ${seconds} s`)
    const server = await WharfServer.start(settings)
    const times = database && (await BackendTimes.open(database.url))
    return new Subject(server, first, times, await HeldSource.start(), async () => {
      await times?.close()
      rmSync(folder, { recursive: true, force: true })
      await database?.drop()
    })
  }

  /** While the source is held, only POSTs cost anything; then the same exports run to their end. */
  async measure(tasks: number): Promise<Cost> {
    this.#source.hold()
    const start = await this.#spent()
    await inParallel(tasks, () => this.#post())
    const posted = await this.#spent()
    this.#source.release()
    await this.#untilDone()
    const done = await this.#spent()
    return {
      postCpuMs: (posted.cpuMs - start.cpuMs) / tasks,
      postWallMs: (posted.atMs - start.atMs) / tasks,
      taskCpuMs: (done.cpuMs - start.cpuMs) / tasks,
      taskWallMs: (done.atMs - start.atMs) / tasks,
    }
  }

  async close(): Promise<void> {
    await this.#server.stop()
    await this.#source.close()
    await this.#remove()
  }

  async #spent(): Promise<{ cpuMs: number; atMs: number }> {
    return { cpuMs: this.#server.cpuMs() + ((await this.#database?.spentMs()) ?? 0), atMs: performance.now() }
  }

  async #post(): Promise<void> {
    const answer = await this.#fetch('POST', '/api/exports', { source_url: this.#source.url, fresh: true })
    if (answer.status !== 202) throw new Error(`POST: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }

  async #untilDone(): Promise<void> {
    for (const status of ['pending', 'processing'])
      for (;;) {
        const answer = await this.#fetch(
          'GET',
          `/api/projects/${this.#projectId}/exports?limit=1&status=${status}`,
        )
        const { items } = (await answer.json()) as { items: unknown[] }
        if (items.length === 0) break
        await sleep(100)
      }
  }

  #fetch(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.#server.address}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
}

async function inParallel(count: number, work: () => Promise<void>): Promise<void> {
  let left = count
  const caller = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}
