import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { Agent } from '../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { agentOptions } from '../support/agents.ts'
import { silentLog } from '../support/backends.ts'
import { BusinessSystem, sendJson } from '../support/business-system.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { LIMIT_MS, until } from '../support/until.ts'
import type { Cluster } from './cluster.ts'
import type { Random } from './random.ts'

type Json = Record<string, unknown>

interface Ask {
  key?: string
  body?: unknown
  bytes?: Buffer
  headers?: Record<string, string>
}

/** What a client that waits for a healthy server does not count as an answer. */
const PASSING = new Set([408, 409, 423, 429, 502, 503, 504, 507])
const ANSWER_MS = 30_000
const RETRY_MS = 200
const POLL_MS = 300
const ROWS = [5, 250, 1_200]
const FILES_PER_RUN = 3

/** Clients of every domain. Each asks again until it is answered, and checks what it gets to the byte. */
export class ChaosLoad {
  sourcesFlap = false
  receiversDown = false
  readonly done = { exports: 0, runs: 0, transfers: 0, processing: 0 }
  /** What is wrong, in words. */
  readonly wrong: string[] = []
  readonly exports: string[] = []
  /** Ids of the callbacks that arrived, by task. */
  readonly callbacks = new Map<string, Set<string>>()
  readonly #cluster: Cluster
  readonly #random: Random
  readonly #hashes = new Map<number, string>()
  #business!: BusinessSystem
  #key = ''
  #over = false
  #clients: Promise<void>[] = []
  #agent!: { id: string; root: string }
  readonly #left = new AbortController()

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
  }

  get accepted(): number {
    return Object.values(this.done).reduce((sum, count) => sum + count, 0)
  }

  /** To be called while everything is whole: it learns what right answers are. */
  async begin(): Promise<void> {
    this.#business = await BusinessSystem.start()
    this.#serveSources()
    this.#serveFeed()
    this.#serveReceiver()
    this.#key = String((await this.#json('POST', '/api/projects', { body: { name: 'chaos' } })).api_key)
    for (const rows of ROWS) {
      const body = { source_url: this.#sourceUrl(rows), type: 'csv' }
      const { taken } = await this.#ask('POST', '/api/exports?mode=sync', { key: this.#key, body })
      this.#hashes.set(rows, sha256(taken))
    }
    await this.#ask('PUT', '/api/settings/max_concurrent', { body: { value: 4 } })
    this.#agent = await this.#startAgent('host-1')
    const repeat = (count: number, once: () => Promise<void>) =>
      Array.from({ length: count }, () => this.#repeat(once))
    this.#clients = [
      ...repeat(16, () => this.#export()),
      ...repeat(2, () => this.#run()),
      ...repeat(2, () => this.#transfer()),
      ...repeat(3, () => this.#process()),
    ]
    // Also when the test has failed: its addresses become those of other tests.
    onTestFinished(async () => {
      this.#over = true
      this.#left.abort(new Unexpected('the test is over'))
      await Promise.all(this.#clients)
    })
  }

  /** No new work; resolves when all that was accepted has ended and every callback has arrived. */
  async end(): Promise<void> {
    this.#over = true
    await Promise.all(this.#clients)
    await until(
      'every export has called back',
      () => this.exports.filter((task) => !this.callbacks.has(task)),
      (missing) => missing.length === 0,
    )
  }

  async flush(url: string): Promise<void> {
    const redis = new Redis(url, { maxRetriesPerRequest: 1 })
    redis.on('error', () => undefined)
    await redis.flushall().finally(() => redis.disconnect())
  }

  async #repeat(once: () => Promise<void>): Promise<void> {
    while (!this.#over) await once().catch((error: Error) => this.wrong.push(String(error.stack)))
  }

  async #export(): Promise<void> {
    const rows = this.#random.pick(ROWS)
    const callback = `${this.#business.origin}/told`
    const body = { source_url: this.#sourceUrl(rows), type: 'csv', page_size: 100, callback, fresh: true }
    const task = String((await this.#json('POST', '/api/exports', { key: this.#key, body })).task_id)
    this.exports.push(task)
    const view = await this.#ended(`/api/exports/${task}`, ['succeeded', 'failed', 'cancelled'])
    this.#expect(`export ${task}`, view.status, 'succeeded', view)
    const { taken } = await this.#ask('GET', `/api/exports/${task}/file`, { key: this.#key })
    this.#expect(`the file of export ${task}`, sha256(taken), this.#hashes.get(rows), view)
    this.done.exports++
  }

  async #run(): Promise<void> {
    const handle = `a${randomBytes(6).toString('hex')}`
    await this.#ask('PUT', `/api/accounts/${handle}`, {
      body: { url: `${this.#business.origin}/feed?of=${handle}` },
    })
    const { run_id } = await this.#json('POST', '/api/runs', { body: { handle, kind: 'start' } })
    const view = await this.#ended(`/api/runs/${run_id}`, ['Done', 'Failed', 'Cancelled'], ADMIN_TOKEN)
    this.#expect(`run ${run_id}`, view.state, 'Done', view)
    for (let index = 0; index < FILES_PER_RUN; index++) {
      const path = join(this.#cluster.sharedDir, 'accounts', handle, `${index}.bin`)
      const { downloaded, failed } = view.progress as Json
      this.#expect(`files of run ${run_id}`, [downloaded, failed], [FILES_PER_RUN, 0], view)
      this.#expect(`file ${path}`, sha256(readFileSync(path)), sha256(contentOf(handle, index)), view)
    }
    this.done.runs++
  }

  async #transfer(): Promise<void> {
    const content = randomBytes(60_000)
    const name = `f${randomBytes(6).toString('hex')}`
    const { id, root } = this.#agent
    await this.#ask('PUT', `/api/repository/release/${name}`, { key: this.#key, bytes: content })
    const { task_id } = await this.#json('POST', '/api/transfers', {
      key: this.#key,
      body: {
        ...{ biz_id: 1, app_id: 1, file_path: '/release', file_name: name, file_signature: sha256(content) },
        ...{ target_agent_id: id, target_file_dir: join(root, 'in') },
      },
    })
    const view = await this.#ended(`/api/transfers/${encodeURIComponent(String(task_id))}`, [
      'Success',
      'Failed',
      'Timeout',
    ])
    this.#expect(`transfer ${task_id}`, view.status, 'Success', view)
    this.#expect(
      `the file of ${task_id}`,
      sha256(readFileSync(join(root, 'in', name))),
      sha256(content),
      view,
    )
    this.done.transfers++
  }

  async #process(): Promise<void> {
    const bytes = randomBytes(20_000)
    const tus = { 'tus-resumable': '1.0.0' }
    const begun = await this.#ask('POST', '/api/uploads', {
      key: this.#key,
      headers: { ...tus, 'upload-length': String(bytes.length) },
    })
    const { pathname } = new URL(begun.answer.headers.get('location') ?? '', this.#cluster.address)
    await this.#upload(pathname, bytes, tus)
    const id = pathname.split('/').at(-1)
    const view = await this.#ended(`/api/tasks/${id}`, ['COMPLETED', 'FAILED'])
    this.#expect(`task ${id}`, view.status, 'COMPLETED', view)
    const { taken } = await this.#ask('GET', `/api/tasks/${id}/result`, { key: this.#key })
    this.#expect(`the result of task ${id}`, sha256(taken), sha256(bytes), view)
    this.done.processing++
  }

  /** As clients of tus do: after a cut they ask how far it got. */
  async #upload(path: string, bytes: Buffer, tus: Record<string, string>): Promise<void> {
    for (;;) {
      const { answer } = await this.#ask('HEAD', path, { key: this.#key, headers: tus })
      const offset = Number(answer.headers.get('upload-offset'))
      if (offset === bytes.length) return
      const headers = {
        ...tus,
        authorization: `Bearer ${this.#key}`,
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
      }
      const body = new Uint8Array(bytes.subarray(offset))
      const signal = AbortSignal.timeout(ANSWER_MS)
      await fetch(this.#cluster.address + path, { method: 'PATCH', headers, body, signal }).catch(
        () => undefined,
      )
    }
  }

  async #ask(method: string, path: string, { key = ADMIN_TOKEN, body, bytes, headers = {} }: Ask = {}) {
    const content = bytes ? new Uint8Array(bytes) : body === undefined ? undefined : JSON.stringify(body)
    const began = performance.now()
    const request = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
    }
    for (let last = ''; ; ) {
      this.#left.signal.throwIfAborted()
      try {
        const signal = AbortSignal.any([AbortSignal.timeout(ANSWER_MS), this.#left.signal])
        const answer = await fetch(this.#cluster.address + path, { ...request, signal })
        const taken = Buffer.from(await answer.arrayBuffer())
        if (answer.ok) return { answer, taken }
        last = `${answer.status} ${taken}`
        if (!PASSING.has(answer.status)) throw new Unexpected(`${method} ${path} was answered with ${last}`)
      } catch (error) {
        if (error instanceof Unexpected) throw error
        last ||= String(error)
      }
      if (performance.now() - began > LIMIT_MS)
        throw new Error(`${method} ${path} was never answered: ${last}`)
      await systemClock.sleep(RETRY_MS)
    }
  }

  async #json(method: string, path: string, ask: Ask = {}): Promise<Json> {
    return JSON.parse(String((await this.#ask(method, path, ask)).taken)) as Json
  }

  #ended(path: string, ends: string[], key = this.#key): Promise<Json> {
    return until(
      `${path} has ended`,
      async () => {
        await systemClock.sleep(POLL_MS)
        return this.#json('GET', path, { key })
      },
      ({ status, state }) => ends.includes(String(status ?? state)),
    )
  }

  #expect(what: string, found: unknown, wanted: unknown, view: Json): void {
    if (JSON.stringify(found) === JSON.stringify(wanted)) return
    throw new Error(
      `${what}: ${JSON.stringify(found)} in place of ${JSON.stringify(wanted)}; ${JSON.stringify(view)}`,
    )
  }

  #sourceUrl(rows: number): string {
    return `${this.#business.origin}/rows?of=${rows}`
  }

  #serveSources(): void {
    this.#business.at('/rows', (_, response, url) => {
      // Below what an export tries again, so that it must get through.
      if (this.sourcesFlap && this.#random.next() < 0.25) {
        if (this.#random.next() < 0.5) response.writeHead(503).end()
        else response.destroy()
        return
      }
      const [total, page, size] = ['of', 'page', 'page_size'].map((name) =>
        Number(url.searchParams.get(name)),
      )
      const count = Math.max(0, Math.min(size!, total! - page! * size!))
      const data = Array.from({ length: count }, (_, at) => rowOf(page! * size! + at))
      sendJson(response, { total, data })
    })
  }

  #serveFeed(): void {
    const { origin } = this.#business
    this.#business.at('/feed', (_, response, url) => {
      const of = url.searchParams.get('of') ?? ''
      const items = Array.from({ length: FILES_PER_RUN }, (_, index) => ({
        ...{ id: String(index), name: `${index}.bin`, size: contentOf(of, index).length },
        url: `${origin}/file?of=${of}&index=${index}`,
      }))
      sendJson(response, { items, next_cursor: null })
    })
    this.#business.at('/file', (_, response, url) => {
      const content = contentOf(url.searchParams.get('of') ?? '', Number(url.searchParams.get('index')))
      response.writeHead(200, { 'content-length': content.length }).end(content)
    })
  }

  #serveReceiver(): void {
    this.#business.at('/told', (request, response) => {
      const chunks: Buffer[] = []
      request.on('error', () => undefined)
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (this.receiversDown) return response.writeHead(503).end()
        const { data } = JSON.parse(String(Buffer.concat(chunks))) as { data: { task_id: string } }
        const ids = this.callbacks.get(data.task_id) ?? new Set()
        this.callbacks.set(data.task_id, ids.add(String(request.headers['webhook-id'])))
        return response.writeHead(204).end()
      })
    })
  }

  async #startAgent(id: string) {
    const root = join(this.#cluster.agentRoots, id)
    mkdirSync(root)
    const agent = new Agent(
      { clock: systemClock, log: silentLog },
      await agentOptions(this.#cluster.address, id, root),
    )
    await agent.start()
    onTestFinished(() => agent.stop())
    return { id, root }
  }
}

class Unexpected extends Error {}

function rowOf(n: number): Json {
  return { id: n, name: `row ${n}`, amount: n * 1.5, 备注: n % 7 === 0 ? null : `第${n}行` }
}

function contentOf(handle: string, index: number): Buffer {
  return Buffer.from(`${handle} ${index}\n`.repeat(200 * (index + 1)))
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
