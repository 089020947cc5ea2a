import { generateKeyPairSync } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { AppError, background, type Clock, ERRORS, type Log, messageOf } from '../../kernel/index.ts'
import { type FromAgent, REPORT_MS, type ToAgent } from '../engines/swarm/wire/control-message.ts'
import { type Credentials, readVerifyKey } from '../engines/swarm/wire/credentials.ts'
import type { Holding } from '../engines/swarm/wire/holding.ts'
import type { Manifest } from '../engines/swarm/wire/manifest.ts'
import { openOrder } from '../engines/swarm/wire/order.ts'
import { agentPeerId } from '../engines/swarm/wire/peer-id.ts'
import { PieceServer } from '../engines/swarm/wire/piece-server.ts'
import { RateLimit } from '../engines/swarm/wire/rate-limit.ts'
import { RESULT } from '../engines/swarm/wire/result-code.ts'
import { AgentTask } from './agent-task.ts'
import { ControlLink } from './control-link.ts'
import { Roots } from './guarded-directory.ts'
import { probeLine } from './probe.ts'

export interface AgentOptions {
  server: string
  token: string
  agentId: string
  containerId: string
  roots: string[]
  version: string
  /** Where other agents connect to; port 0 picks a free one. */
  listenHost?: string
  listenPort?: number
  /** The host that others are told; null: the one the server sees. */
  advertiseHost?: string | null
  /** Bytes a second; null: no limit. */
  uploadLimit?: number | null
  downloadLimit?: number | null
}

/** How much later than its child a parent may hear of a file; a refused child would wait longer. */
const JOB_WITHIN_MS = 1_000

/** `wharf agent`: takes files from its peers, checks them, puts them below its roots, and passes them on. */
export class Agent {
  readonly #clock: Clock
  readonly #log: Log
  readonly #options: AgentOptions
  readonly #roots: Roots
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #link: ControlLink
  readonly #pieces: PieceServer
  readonly #download: RateLimit
  readonly #tasks = new Map<string, AgentTask>()
  readonly #jobs = new EventEmitter()
  readonly #manifests = new Map<string, Manifest>()
  readonly #stop = new AbortController()
  #credentials: Credentials | undefined
  /** The server's clock minus ours: tickets end by the server's. */
  #clockAhead = 0
  #running: Promise<unknown> | undefined

  constructor({ clock, log }: { clock: Clock; log: Log }, options: AgentOptions) {
    this.#clock = clock
    this.#log = log
    this.#options = options
    this.#roots = new Roots(options.roots)
    this.#download = new RateLimit(clock, options.downloadLimit ?? null)
    this.#pieces = new PieceServer({
      credentials: undefined,
      find: (task) => this.#find(task),
      now: () => this.#serverNow(),
      upload: new RateLimit(clock, options.uploadLimit ?? null),
      log,
    })
    this.#link = new ControlLink(
      { clock, log, hello: () => this.#hello(), receive: (message) => this.#receive(message) },
      options,
    )
  }

  async start(): Promise<void> {
    const { listenHost = '0.0.0.0', listenPort = 0 } = this.#options
    await this.#pieces.listen(listenHost, listenPort).catch((cause: NodeJS.ErrnoException) => {
      const message = `cannot listen on ${listenHost}:${listenPort} (${cause.code}); set --listen to another address`
      throw new AppError(ERRORS.CONFIG_INVALID, message, { cause })
    })
    this.#running = Promise.all([this.#link.run(this.#stop.signal), this.#reportLoop()])
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the agent stops'))
    await this.#running
    await Promise.all([...this.#tasks.values()].map((task) => task.end({ keep: true })))
    await this.#pieces.close()
  }

  #hello(): FromAgent {
    return {
      type: 'hello',
      agent_id: this.#options.agentId,
      container_id: this.#options.containerId,
      public_key: this.#keys.publicKey.export({ type: 'spki', format: 'pem' }) as string,
      host: this.#options.advertiseHost ?? null,
      port: this.#pieces.port,
      version: this.#options.version,
    }
  }

  #receive(message: ToAgent): void {
    switch (message.type) {
      case 'welcome':
        this.#welcome(message)
        return
      case 'job':
        this.#take(message)
        return
      case 'assign':
        this.#tasks.get(message.task)?.follow(message.parent, message.ticket)
        return
      case 'probe':
        background('measuring a line', this.#probe(message))
        return
      case 'end':
        background('ending a task', this.#end(message.task))
        return
    }
  }

  #welcome({ certificate, authority, verify_key, now }: Extract<ToAgent, { type: 'welcome' }>): void {
    this.#clockAhead = now - this.#clock.now()
    this.#credentials = {
      id: agentPeerId(this.#options.agentId, this.#options.containerId),
      key: this.#keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      certificate,
      authority,
      verifyKey: readVerifyKey(verify_key),
    }
    this.#pieces.renew(this.#credentials)
  }

  #take(job: Extract<ToAgent, { type: 'job' }>): void {
    const known = this.#tasks.get(job.task)
    if (known) {
      known.repeatOutcome()
      return
    }
    try {
      const { id, verifyKey } = this.#mustKnow()
      const { order, manifest } = openOrder(verifyKey, job, { agent: id, now: this.#serverNow() })
      if (order.task !== job.task) throw new Error('the order is for another task')
      const { task, fileName, places } = order
      this.#manifests.set(task, manifest)
      this.#tasks.set(task, new AgentTask(this.#taskDeps(), { task, fileName, manifest, places }))
      this.#jobs.emit(task)
    } catch (error) {
      const code = RESULT.SIGNATURE_MISMATCH
      this.#link.send({ type: 'done', task: job.task, code, message: messageOf(error) })
    }
  }

  /** A child may have heard of the file first. */
  async #find(task: string): Promise<Holding | undefined> {
    if (!this.#tasks.has(task)) {
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(JOB_WITHIN_MS)])
      await once(this.#jobs, task, { signal }).catch(() => undefined)
    }
    return this.#tasks.get(task)?.holding()
  }

  #taskDeps() {
    return {
      roots: this.#roots,
      credentials: () => this.#mustKnow(),
      serverHost: this.#serverHost,
      download: this.#download,
      send: (message: FromAgent) => this.#link.send(message),
      clock: this.#clock,
      log: this.#log,
    }
  }

  async #probe({ task, probe, parent, ticket, piece }: Extract<ToAgent, { type: 'probe' }>): Promise<void> {
    const manifest = this.#manifests.get(task)
    if (!manifest) return
    const line = { ...parent, host: parent.host ?? this.#serverHost }
    try {
      const speed = await probeLine(
        this.#mustKnow(),
        manifest,
        { parent: line, ticket, piece },
        this.#stop.signal,
      )
      // A line is as fast as this agent may use it.
      const ms = Math.max(speed.ms, this.#download.millisecondsFor(speed.bytes))
      this.#link.send({ type: 'probed', task, probe, bytes: speed.bytes, ms })
    } catch (error) {
      this.#log.debug({ err: error, task }, 'a line could not be measured')
    }
  }

  async #end(task: string): Promise<void> {
    const ending = this.#tasks.get(task)
    this.#tasks.delete(task)
    this.#manifests.delete(task)
    await ending?.end().catch((error) => this.#log.warn({ err: error, task }, 'a task did not end cleanly'))
  }

  async #reportLoop(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await this.#clock.sleep(REPORT_MS, signal).catch(() => undefined)
      if (this.#tasks.size === 0) continue
      const tasks = [...this.#tasks].map(([task, { report }]) => ({
        ...report,
        children: this.#pieces.feedsOf(task).map(({ child: id, waiting }) => ({ id, waiting })),
      }))
      this.#link.send({ type: 'report', tasks })
    }
  }

  get #serverHost(): string {
    return new URL(this.#options.server).hostname.replace(/^\[|\]$/g, '')
  }

  #serverNow(): number {
    return this.#clock.now() + this.#clockAhead
  }

  #mustKnow(): Credentials {
    if (!this.#credentials) throw new Error('the server has not certified this agent yet')
    return this.#credentials
  }
}
