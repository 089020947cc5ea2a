import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { startFeed } from '../runs/feed-server.ts'
import type { BusinessSystem, Receiver } from './business-system.ts'
import { ADMIN_TOKEN } from './http.ts'
import { until } from './until.ts'

interface Ask {
  key?: string
  body?: unknown
  bytes?: Buffer
  headers?: Record<string, string>
}

interface Slowest {
  ms: number
  what: string
}

/** Between two requests of a client, so that the servers have time for more than answering. */
const PAUSE_MS = 50

/** What an answer says by which the caller should ask again. */
const AGAIN = new Set([409, 429])

/**
 * Clients of every domain that ask the instances in turn and measure each answer. One that asked an instance which has
 * stopped meanwhile asks the next one with the same idempotency key.
 */
export class StallLoad {
  readonly failures: string[] = []
  readonly exports: { task: string; receiver: Receiver }[] = []
  requests = 0
  unavailable = 0
  /** The slowest answer since the last stop, and the slowest one while none was stopped: that much is the machine's. */
  slowest: Slowest = { ms: 0, what: '' }
  calm = 0
  #key = ''
  #project = ''
  #addresses: string[]
  #stopped: string | undefined
  #cut = new AbortController()
  #over = false
  readonly #business: BusinessSystem

  constructor(addresses: string[], business: BusinessSystem) {
    this.#addresses = addresses
    this.#business = business
  }

  async begin(): Promise<() => Promise<void>> {
    const project = await this.json('POST', '/api/projects', { body: { name: 'load' } })
    this.#key = String(project.api_key)
    this.#project = String(project.project_id)
    const feed = await startFeed([{ id: 'a', body: randomBytes(2_000) }])
    const clients = [
      ...Array.from({ length: 3 }, () => this.#repeat(() => this.#export())),
      ...Array.from({ length: 2 }, (_, index) => this.#repeat(() => this.#run(`account${index}`, feed.url))),
      ...Array.from({ length: 2 }, () => this.#repeat(() => this.#transfer())),
      this.#repeat(() => this.#look()),
    ]
    // Also when the test has failed: its addresses become those of other tests.
    onTestFinished(() => {
      this.#over = true
    })
    return async () => {
      this.#over = true
      await Promise.all(clients)
    }
  }

  /** From here on this instance is not asked, and nobody waits for its answers. */
  stop(address: string): void {
    this.#stopped = address
    this.#cut.abort()
    this.#cut = new AbortController()
    this.slowest = { ms: 0, what: '' }
  }

  resume(): void {
    this.#stopped = undefined
  }

  /** An export whose source is in the caller's hands. */
  async export(sourceUrl: string): Promise<string> {
    const receiver = this.#business.receiver()
    const body = { source_url: sourceUrl, type: 'csv', page_size: 100, callback: receiver.url, fresh: true }
    const { task_id } = await this.json('POST', '/api/exports', { key: this.#key, body })
    this.exports.push({ task: String(task_id), receiver })
    return String(task_id)
  }

  async ask(method: string, path: string, { key = ADMIN_TOKEN, body, bytes, headers = {} }: Ask = {}) {
    const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
    const init = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
    }
    return until(`${method} ${path} is answered`, async () => {
      const address = this.#next()
      const { signal } = this.#cut
      const began = performance.now()
      const answered = await fetch(`${address}${path}`, { ...init, signal })
        .then(async (answer) => ({ answer, taken: Buffer.from(await answer.arrayBuffer()) }))
        .catch((error: Error) => error)
      // Asked before the stop: another one is asked, whatever came of it.
      if (signal.aborted) return false
      this.#measure(performance.now() - began, `${method} ${path}`)
      if (answered instanceof Error) {
        this.failures.push(`${method} ${address}${path}: ${answered.cause ?? answered}`)
        return false
      }
      const { status } = answered.answer
      if (status === 503) this.unavailable++
      if (status >= 400 && !AGAIN.has(status) && status !== 503)
        throw new Error(`${method} ${path}: ${status} ${answered.taken}`)
      return status < 400 && answered
    })
  }

  async json(method: string, path: string, ask: Ask = {}): Promise<Record<string, unknown>> {
    return JSON.parse(String((await this.ask(method, path, ask)).taken))
  }

  #next(): string {
    const running = this.#addresses.filter((address) => address !== this.#stopped)
    return running[this.requests++ % running.length] as string
  }

  #measure(ms: number, what: string): void {
    if (this.#stopped === undefined) this.calm = Math.max(this.calm, ms)
    else if (ms > this.slowest.ms) this.slowest = { ms, what }
  }

  async #repeat(once: () => Promise<unknown>): Promise<void> {
    while (!this.#over) {
      await once().catch((error: Error) => this.failures.push(String(error.stack)))
      await systemClock.sleep(PAUSE_MS)
    }
  }

  async #export(): Promise<void> {
    const task = await this.export(this.#business.source({ total: 150 }).url)
    await this.#ended(`/api/exports/${task}`, (view) => view.finished_at !== null)
  }

  async #run(handle: string, url: string): Promise<void> {
    await this.ask('PUT', `/api/accounts/${handle}`, { body: { url } })
    const { run_id } = await this.json('POST', '/api/runs', { body: { handle, kind: 'start' } })
    const ended = (view: Record<string, unknown>) => !['Queued', 'Running'].includes(String(view.state))
    await this.#ended(`/api/runs/${run_id}`, ended, ADMIN_TOKEN)
  }

  async #transfer(): Promise<void> {
    const content = randomBytes(1_000)
    const name = createHash('sha256').update(content).digest('hex')
    await this.ask('PUT', `/api/repository/release/${name}`, { key: this.#key, bytes: content })
    const body = {
      ...{ biz_id: 1, app_id: 1, file_path: '/release', file_name: name, file_signature: name },
      ...{ target_agent_id: 'nobody', target_file_dir: '/in' },
    }
    for (let joins = 0; joins < 3; joins++) await this.ask('POST', '/api/transfers', { key: this.#key, body })
  }

  async #look(): Promise<void> {
    for (const path of ['/api/state', '/api/overview']) await this.ask('GET', path)
    for (const path of [`/api/projects/${this.#project}/exports`, '/api/repository', '/api/tasks'])
      await this.ask('GET', path, { key: this.#key })
  }

  #ended(path: string, ended: (view: Record<string, unknown>) => boolean, key = this.#key) {
    return until(`${path} has ended`, async () => {
      await systemClock.sleep(PAUSE_MS)
      return ended(await this.json('GET', path, { key }))
    })
  }
}
