import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { AppError, background, type Clock, ERRORS, type Log, messageOf } from '../../../kernel/index.ts'
import { type Holding, PieceServer, RateLimit } from '../pieces/index.ts'
import {
  agentPeerId,
  type Credentials,
  checkWelcome,
  type FromAgent,
  type Manifest,
  makePass,
  openOrder,
  type PeerId,
  REPORT_MS,
  RESULT,
  readVerifyKey,
  signAs,
  TargetFailure,
  type ToAgent,
} from '../wire/index.ts'
import type { OwnIdentity } from './agent-state.ts'
import { AgentTask } from './agent-task.ts'
import { ControlLink } from './control-link.ts'
import { type Allowed, AllowList, Roots } from './place/index.ts'
import { probeLine } from './probe.ts'

export interface AgentOptions {
  server: string
  identity: OwnIdentity
  agentId: string
  containerId: string
  roots: string[]
  allow: Allowed
  version: string
  /** Where other agents connect to; port 0 picks a free one. */
  listenHost?: string
  listenPort?: number
  /** The host that other agents connect to; null: the one that the server sees. */
  advertiseHost?: string | null
  /** Bytes a second; null: no limit. */
  uploadLimit?: number | null
  downloadLimit?: number | null
  /** Hears of each welcome by the server. */
  onConnected?(): void
}

/** How much later than its child a parent may hear of a file; a refused child would wait longer. */
const JOB_WITHIN_MS = 1_000
/** An outcome may get lost on its way to the instance that waits for it: it is said again until the task is ended. */
const OUTCOME_EVERY_MS = 4_000

/** `wharf agent`: takes files from its peers, checks them, puts them below its roots, and passes them on. */
export class Agent {
  readonly #clock: Clock
  readonly #log: Log
  readonly #options: AgentOptions
  readonly #roots: Roots
  readonly #allow: AllowList
  readonly #id: PeerId
  readonly #key: KeyObject
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
    this.#allow = new AllowList(options.allow)
    this.#id = agentPeerId(options.agentId, options.containerId)
    this.#key = createPrivateKey(options.identity.key)
    this.#download = new RateLimit(clock, options.downloadLimit ?? null)
    this.#pieces = new PieceServer({
      credentials: undefined,
      find: (task) => this.#find(task),
      now: () => this.#serverNow(),
      upload: new RateLimit(clock, options.uploadLimit ?? null),
      log,
    })
    this.#link = new ControlLink(
      {
        clock,
        log,
        pass: () => makePass(this.#key, options),
        hello: (challenge, nonce) => this.#hello(challenge, nonce),
        welcome: (message, nonce) => this.#welcome(message, nonce),
        receive: (message) => this.#receive(message),
      },
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

  #hello(challenge: string, nonce: string): FromAgent {
    const host = this.#options.advertiseHost ?? null
    const { port } = this.#pieces
    const signature = signAs(this.#key, 'hello', [challenge, nonce, host, port])
    return { type: 'hello', nonce, signature, host, port, version: this.#options.version }
  }

  #receive(message: ToAgent): void {
    switch (message.type) {
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
      case 'revoked':
        this.#pieces.revoke(message.keys)
        return
    }
  }

  /** Nothing of a welcome counts before all of it was checked. */
  #welcome(welcome: Extract<ToAgent, { type: 'welcome' }>, nonce: string): void {
    const { key, authority, verifyKey: pem } = this.#options.identity
    const verifyKey = readVerifyKey(pem)
    const publicKey = createPublicKey(this.#key)
    checkWelcome(welcome, nonce, { id: this.#id, publicKey, authority, verifyKey })
    this.#clockAhead = welcome.now - this.#clock.now()
    this.#credentials = { id: this.#id, key, certificate: welcome.certificate, authority, verifyKey }
    this.#pieces.renew(this.#credentials)
    this.#pieces.revoke(welcome.revoked)
    this.#options.onConnected?.()
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
      this.#allow.checkProject(order.project)
      const { task, fileName, places } = order
      this.#manifests.set(task, manifest)
      this.#tasks.set(task, new AgentTask(this.#taskDeps(), { task, fileName, manifest, places }))
      this.#jobs.emit(task)
    } catch (error) {
      const code = error instanceof TargetFailure ? error.code : RESULT.SIGNATURE_MISMATCH
      const message = messageOf(error)
      this.#log.warn({ task: job.task, code }, message)
      this.#link.send({ type: 'done', task: job.task, code, message })
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
      allow: this.#allow,
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
    for (let pass = 1; !signal.aborted; pass++) {
      await this.#clock.sleep(REPORT_MS, signal).catch(() => undefined)
      if (pass % (OUTCOME_EVERY_MS / REPORT_MS) === 0)
        for (const task of this.#tasks.values()) task.repeatOutcome()
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
