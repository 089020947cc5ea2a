import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { Agent } from '../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { startFeed } from '../runs/feed-server.ts'
import { agentOptions } from './agents.ts'
import { silentLog } from './backends.ts'
import type { BusinessSystem, Receiver, Source } from './business-system.ts'
import type { Message } from './event-readers.ts'
import { ADMIN_TOKEN } from './http.ts'
import { until } from './until.ts'
import { temporaryFolder } from './wharf-process.ts'

/** Clients ask this often, so that the servers have time for more than answering. */
const POLL_MS = 200

type Json = Record<string, unknown>
/** Of an nginx that repeats what its defaults say, and of one that repeats requests of every method. */
interface NginxAddresses {
  plain: string
  keeping: string
}

interface Ask {
  key?: string
  body?: unknown
  bytes?: Buffer
  headers?: Record<string, string>
}

/**
 * Clients of every domain that come through load balancers, each doing one thing after the other until they are told to
 * end. They repeat a request only when the connection broke; every other answer that is not the expected one is noted.
 */
export class RollingLoad {
  readonly failures: string[] = []
  readonly sources: Source[] = []
  requests = 0
  readonly done = { exports: 0, sync: 0, runs: 0, transfers: 0, processing: 0, callbacks: 0 }
  readonly #addresses: NginxAddresses
  readonly #business: BusinessSystem
  readonly #receivers: { task: string; receiver: Receiver }[] = []
  #key = ''
  #over = false

  constructor(addresses: NginxAddresses, business: BusinessSystem) {
    this.#addresses = addresses
    this.#business = business
  }

  async begin(): Promise<() => Promise<void>> {
    this.#key = String((await this.json('POST', '/api/projects', { body: { name: 'load' } })).api_key)
    const watchers = [this.#watchStream(), this.#watchSocket()]
    const agent = await this.#agent()
    const clients = [
      ...Array.from({ length: 2 }, () => this.#repeat(() => this.#export())),
      this.#repeat(() => this.#sync()),
      this.#repeat(() => this.#run()),
      this.#repeat(() => this.#transfer(agent)),
      this.#repeat(() => this.#process()),
    ]
    // Also when the test has failed: what they use is taken away next.
    onTestFinished(async () => {
      this.#over = true
      await Promise.all(clients)
    })
    return async () => {
      this.#over = true
      await Promise.all(clients)
      await this.#callbacksTold()
      for (const watcher of watchers) watcher.check()
    }
  }

  async ask(method: string, path: string, { key = ADMIN_TOKEN, body, bytes, headers = {} }: Ask = {}) {
    const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
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
    const { plain, keeping } = this.#addresses
    // What nginx does not repeat unless it is told to may come in the very moment in which an instance closes its port.
    const addresses = method === 'POST' || method === 'PATCH' ? [keeping] : [plain, keeping]
    for (let tries = 1; ; tries++) {
      const address = addresses[this.requests++ % addresses.length]
      try {
        const answer = await fetch(`${address}${path}`, request)
        const taken = Buffer.from(await answer.arrayBuffer())
        if (!answer.ok) this.failures.push(`${method} ${path}: ${answer.status} ${taken}`)
        return { answer, taken }
      } catch (error) {
        if (tries === 5) throw error
      }
    }
  }

  async json(method: string, path: string, ask: Ask = {}): Promise<Json> {
    return JSON.parse(String((await this.ask(method, path, ask)).taken)) as Json
  }

  async #repeat(once: () => Promise<void>): Promise<void> {
    while (!this.#over) {
      await once().catch((error: Error) => this.failures.push(String(error.stack)))
      await systemClock.sleep(POLL_MS)
    }
  }

  async #export(): Promise<void> {
    const source = this.#business.source({ total: 250 })
    const receiver = this.#business.receiver()
    this.sources.push(source)
    const body = { source_url: source.url, type: 'csv', page_size: 100, callback: receiver.url }
    const { task_id } = await this.json('POST', '/api/exports', { key: this.#key, body })
    const task = String(task_id)
    this.#receivers.push({ task, receiver })
    const view = await this.#ended(`/api/exports/${task}`, ['succeeded', 'failed', 'cancelled'])
    expect(view).toMatchObject({ status: 'succeeded', attempts: 1 })
    const { taken } = await this.ask('GET', `/api/exports/${task}/file`, { key: this.#key })
    expect(sha256(taken)).toBe((view.file as Json).sha256)
    this.done.exports++
  }

  async #sync(): Promise<void> {
    const source = this.#business.source({ total: 120 })
    const body = { source_url: source.url, type: 'csv' }
    const { taken } = await this.ask('POST', '/api/exports?mode=sync', { key: this.#key, body })
    expect(String(taken).trim().split('\n')).toHaveLength(121)
    this.done.sync++
  }

  async #run(): Promise<void> {
    const feed = await startFeed([{ id: 'a', body: randomBytes(2_000) }])
    const handle = `a${this.done.runs}`
    await this.ask('PUT', `/api/accounts/${handle}`, { body: { url: feed.url } })
    const { run_id } = await this.json('POST', '/api/runs', { body: { handle, kind: 'start' } })
    const view = await this.#ended(`/api/runs/${run_id}`, ['Done', 'Failed', 'Cancelled'], ADMIN_TOKEN)
    expect(view).toMatchObject({ state: 'Done' })
    expect(feed.attempts('a')).toBe(1)
    this.done.runs++
  }

  async #transfer(agent: { id: string; root: string }): Promise<void> {
    const content = randomBytes(100_000)
    const name = `f${this.done.transfers}`
    await this.ask('PUT', `/api/repository/release/${name}`, { key: this.#key, bytes: content })
    const { task_id } = await this.json('POST', '/api/transfers', {
      key: this.#key,
      body: {
        ...{ biz_id: 1, app_id: 1, file_path: '/release', file_name: name, file_signature: sha256(content) },
        ...{ target_agent_id: agent.id, target_file_dir: join(agent.root, 'in') },
      },
    })
    const path = `/api/transfers/${encodeURIComponent(String(task_id))}`
    expect(await this.#ended(path, ['Success', 'Failed', 'Timeout'])).toMatchObject({ status: 'Success' })
    expect(sha256(readFileSync(join(agent.root, 'in', name)))).toBe(sha256(content))
    this.done.transfers++
  }

  async #process(): Promise<void> {
    const bytes = randomBytes(50_000)
    const tus = { 'tus-resumable': '1.0.0' }
    const begun = await this.ask('POST', '/api/uploads', {
      key: this.#key,
      headers: { ...tus, 'upload-length': String(bytes.length) },
    })
    const { pathname } = new URL(begun.answer.headers.get('location') ?? '', this.#addresses.plain)
    await this.#send(pathname, bytes, tus)
    const id = pathname.split('/').at(-1)
    const view = await this.#ended(`/api/tasks/${id}`, ['COMPLETED', 'FAILED'])
    expect(view).toMatchObject({ status: 'COMPLETED' })
    const { taken } = await this.ask('GET', `/api/tasks/${id}/result`, { key: this.#key })
    expect(taken.equals(bytes)).toBe(true)
    this.done.processing++
  }

  /** As clients of tus do: after a cut they ask how far it got. */
  async #send(path: string, bytes: Buffer, tus: Record<string, string>): Promise<void> {
    for (;;) {
      const { answer } = await this.ask('HEAD', path, { key: this.#key, headers: tus })
      if (!answer.ok) throw new Error(`the upload is answered ${answer.status}`)
      const offset = Number(answer.headers.get('upload-offset'))
      if (offset === bytes.length) return
      const headers = {
        ...tus,
        authorization: `Bearer ${this.#key}`,
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
      }
      const sent = await fetch(`${this.#addresses.plain}${path}`, {
        method: 'PATCH',
        headers,
        body: bytes.subarray(offset),
      }).catch(() => undefined)
      if (sent && !sent.ok) this.failures.push(`PATCH ${path}: ${sent.status} ${await sent.text()}`)
    }
  }

  #ended(path: string, ends: string[], key = this.#key): Promise<Json> {
    return until(`${path} has ended`, async () => {
      if (this.failures.length > 0) throw new Error('another request has failed')
      await systemClock.sleep(POLL_MS)
      const view = await this.json('GET', path, { key })
      return ends.includes(String(view.status ?? view.state)) && view
    })
  }

  async #callbacksTold(): Promise<void> {
    for (const { task, receiver } of this.#receivers) {
      await receiver.call()
      expect(receiver.calls, `callbacks for ${task}`).toHaveLength(1)
      this.done.callbacks++
    }
  }

  async #agent() {
    const root = join(temporaryFolder(), 'root')
    mkdirSync(root)
    const options = await agentOptions(this.#addresses.plain, 'host-1', root)
    const agent = new Agent({ clock: systemClock, log: silentLog }, options)
    await agent.start()
    onTestFinished(() => agent.stop())
    return { id: 'host-1', root }
  }

  /** Follows the log with server-sent events as a browser does: it comes back with the last id that it saw. */
  #watchStream() {
    const seen: Message[] = []
    const gone = new AbortController()
    onTestFinished(() => gone.abort())
    const follow = async () => {
      while (!gone.signal.aborted) {
        const after = seen.at(-1)?.seq ?? 0
        const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
        const answer = await fetch(`${this.#addresses.plain}/api/events?after=${after}`, {
          headers,
          signal: gone.signal,
        })
        if (!answer.ok) this.failures.push(`GET /api/events: ${answer.status}`)
        let rest = ''
        for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const lines = (rest + text).split('\n')
          rest = lines.pop() ?? ''
          for (const line of lines.filter((one) => one.startsWith('data:'))) {
            const message = JSON.parse(line.slice(5)) as Message
            // The last one says why the stream ends, and is no event.
            if (message.seq !== undefined) seen.push(message)
          }
        }
      }
    }
    const again = (): Promise<void> => follow().catch(() => (gone.signal.aborted ? undefined : again()))
    void again()
    return { check: () => checkChain(seen) }
  }

  #watchSocket() {
    const seen: Message[] = []
    let socket: WebSocket | undefined
    let over = false
    onTestFinished(() => {
      over = true
      socket?.terminate()
    })
    const follow = () => {
      if (over) return
      const after = seen.at(-1)?.seq ?? 0
      const url = `${this.#addresses.plain.replace('http', 'ws')}/ws?after=${after}`
      socket = new WebSocket(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
      socket.on('message', (text) => seen.push(JSON.parse(String(text))))
      socket.on('unexpected-response', (_, answer) => {
        this.failures.push(`GET /ws: ${answer.statusCode}`)
        socket?.terminate()
      })
      socket.on('error', () => undefined)
      socket.on('close', follow)
    }
    follow()
    return { check: () => checkChain(seen) }
  }
}

/** Nothing was skipped and nothing came twice, over all instances that the reader has met. */
function checkChain(seen: Message[]): void {
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.filter(({ prev_seq }, at) => at > 0 && prev_seq !== seen[at - 1]?.seq)).toEqual([])
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
