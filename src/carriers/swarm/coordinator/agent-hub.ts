import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import {
  AppError,
  background,
  type Clock,
  ERRORS,
  isAppError,
  type Log,
  messageOf,
  outageOf,
  unforeseen,
} from '../../../kernel/index.ts'
import type { AgentIdentities, AgentIdentity } from '../identity/agent-identities.ts'
import { LEAF_MS, type SwarmAuthority } from '../identity/authority.ts'
import {
  agentPeerId,
  type FromAgent,
  isSignedBy,
  newNonce,
  PING_MS,
  readAgentKey,
  readEnrollmentToken,
  readPass,
  type ToAgent,
} from '../wire/index.ts'
import type { AgentDirectory } from './agent-directory.ts'
import { MessagePace, type Pace } from './message-pace.ts'
import { readAgentMessage } from './read-agent-message.ts'

export interface AgentHubDeps {
  authority: SwarmAuthority
  identities: AgentIdentities
  directory: AgentDirectory
  /** Keys were revoked, here or at another instance. */
  revoked(keys: string[]): void
  /** How fast one agent may talk. */
  pace?: Pace
  clock: Clock
  log: Log
}

/** Answers a client whose socket is refused with the reason. */
export type Refuse = (error: AppError) => void

/** Who is at the other end, as far as the way in shows it. */
type Visitor = { agent: AgentIdentity } | { secret: string }

interface Line {
  socket: WebSocket
  identity: AgentIdentity
  nonce: string
  certifiedAt: number
  heardAt: number
}

const HELLO_WITHIN_MS = 10_000
/** For the answer to the close frame of a server that stops. */
const CLOSE_MS = 200
const SERVICE_RESTART = 1012
const POLICY = 1008
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
/** An agent that no longer reads its messages is disconnected; it connects again and gets them anew. */
const MAX_BUFFERED = 128 * 1024 * 1024

/**
 * The agents whose control line ends here: enrols them, lets them in, certifies them, and carries messages both ways.
 *
 * A line: challenged → (hello) → welcomed, or challenged → (enroll) → enrolled and closed. What an agent is called comes
 * from its key, never from what it says.
 */
export class AgentHub {
  readonly #deps: AgentHubDeps
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  readonly #lines = new Map<string, Line>()
  #revokedKeys = new Set<string>()
  #pinging: NodeJS.Timeout | undefined
  #bytesSent = 0

  constructor(deps: AgentHubDeps) {
    this.#deps = deps
    deps.directory.onSend((key, message) => this.#send(key, message))
  }

  async start(): Promise<void> {
    await this.learnRevoked()
    this.#pinging ??= setInterval(() => this.#ping(), PING_MS)
    this.#pinging.unref()
  }

  /** Sends every agent away; it connects again at once, to another instance where there is one. */
  async disconnect(): Promise<void> {
    const { clients } = this.#server
    const closed = [...clients].map((client) => once(client, 'close'))
    for (const client of clients) client.close(SERVICE_RESTART, 'the server is stopping; connect again')
    const late = setTimeout(() => {
      for (const client of clients) client.terminate()
    }, CLOSE_MS)
    await Promise.all(closed)
    clearTimeout(late)
  }

  stop(): void {
    clearInterval(this.#pinging)
    this.#lines.clear()
    for (const client of this.#server.clients) client.terminate()
  }

  /** How many agents are connected here. */
  get size(): number {
    return this.#lines.size
  }

  /** Bytes of control messages that left. */
  get bytesSent(): number {
    return this.#bytesSent
  }

  /** Disconnects agents with these keys, and notifies all others. */
  revoke(keys: readonly string[]): void {
    const news = keys.filter((key) => !this.#revokedKeys.has(key))
    if (news.length === 0) return
    for (const key of news) this.#revokedKeys.add(key)
    for (const { socket, identity } of this.#lines.values())
      if (news.includes(identity.keyId)) socket.close(POLICY, 'this agent was revoked')
    for (const key of this.#lines.keys()) this.#send(key, { type: 'revoked', keys: news })
    this.#deps.revoked(news)
  }

  /** Handles `GET /ws/agent` with an agent's pass or an enrolment token as `Authorization: Bearer`. */
  readonly upgrade = (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    refuse: Refuse = (error) => refusePlainly(socket, error),
  ): void => {
    socket.on('error', () => socket.destroy())
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const letIn = (visitor: Visitor | undefined) => {
      if (!visitor) return refuse(new AppError(ERRORS.UNAUTHENTICATED, 'this is no pass of an agent'))
      this.#server.handleUpgrade(request, socket, head, (client) =>
        this.#greet(client, visitor, {
          remote: plainAddress(request.socket.remoteAddress),
          local: plainAddress(request.socket.localAddress),
        }),
      )
    }
    const away = (error: unknown) => {
      unforeseen('an agent was not let in', outageOf(error) ?? error)
      refuse(outageOf(error) ?? new AppError(ERRORS.INTERNAL, 'agents cannot be let in', { cause: error }))
    }
    background('letting an agent in', this.#visitor(token ?? '').then(letIn, away))
  }

  async #visitor(token: string): Promise<Visitor | undefined> {
    const { identities } = this.#deps
    const enrolling = readEnrollmentToken(token)
    if (enrolling) return (await identities.isInvited(enrolling.secret)) ? enrolling : undefined
    const pass = readPass(token)
    const agent = pass && (await identities.find(pass))
    return agent && pass.isOf(agent.publicKey) ? { agent } : undefined
  }

  #greet(socket: WebSocket, visitor: Visitor, addresses: { remote: string; local: string }): void {
    const late = setTimeout(() => socket.terminate(), HELLO_WITHIN_MS)
    const challenge = newNonce()
    const pace = new MessagePace(this.#deps.clock, this.#deps.pace)
    let key: string | undefined
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      clearTimeout(late)
      if (key !== undefined && this.#lines.get(key)?.socket === socket) this.#lost(key)
    })
    socket.on('pong', () => this.#heard(key))
    socket.on('message', (data) => {
      this.#heard(key)
      this.#slowDown(socket, pace.take())
      try {
        const message = readAgentMessage(String(data))
        if (message.type === 'enroll' && 'secret' in visitor)
          background('enrolling an agent', this.#enroll(socket, visitor.secret, message, challenge))
        else if (message.type === 'hello' && 'agent' in visitor && key === undefined) {
          key = this.#welcome(socket, visitor.agent, message, { ...addresses, challenge })
          clearTimeout(late)
        } else if (key === undefined || message.type === 'hello' || message.type === 'enroll')
          throw new Error(`${message.type} is not what comes next`)
        else this.#deps.directory.received(key, message)
      } catch (error) {
        this.#deps.log.warn({ err: error, agent: key }, 'an agent sent what is not understood')
        socket.terminate()
      }
    })
    socket.send(JSON.stringify({ type: 'challenge', nonce: challenge } satisfies ToAgent))
  }

  async #enroll(
    socket: WebSocket,
    secret: string,
    message: Extract<FromAgent, { type: 'enroll' }>,
    challenge: string,
  ): Promise<void> {
    const { identities, authority, log } = this.#deps
    const { agent_id: agentId, container_id: containerId, public_key: publicKey, signature } = message
    const answer = (text: ToAgent) => {
      socket.send(JSON.stringify(text))
      socket.close()
    }
    try {
      if (!isSignedBy(readAgentKey(publicKey), 'enroll', [challenge, agentId, containerId], signature))
        throw new Error('the agent does not have the key that it shows')
      const { revoked } = await identities.enroll(secret, { agentId, containerId, publicKey })
      log.info({ agent: agentPeerId(agentId, containerId) }, 'an agent was enrolled')
      this.revoke(revoked)
      const { authority: certificate, verifyKey } = authority.trust
      answer({ type: 'enrolled', authority: certificate, verify_key: verifyKey })
    } catch (error) {
      log.warn({ err: error }, 'an agent was not enrolled')
      // The agent asks again.
      if (isAppError(error) && error.retryable) socket.close()
      else answer({ type: 'refused', message: messageOf(error) })
    }
  }

  #welcome(
    socket: WebSocket,
    identity: AgentIdentity,
    hello: Extract<FromAgent, { type: 'hello' }>,
    { remote, local, challenge }: { remote: string; local: string; challenge: string },
  ): string {
    const { agentId, containerId, publicKey, keyId } = identity
    const { nonce, port, version, signature } = hello
    if (this.#revokedKeys.has(keyId)) throw new Error('this agent was revoked')
    if (!isSignedBy(publicKey, 'hello', [challenge, nonce, hello.host, port], signature))
      throw new Error('the agent does not have its key')
    const key = agentPeerId(agentId, containerId)
    const older = this.#lines.get(key)
    if (older) {
      this.#deps.log.info({ agent: key }, 'an agent connected again; its older line is closed')
      older.socket.terminate()
    }
    const now = this.#deps.clock.now()
    this.#lines.set(key, { socket, identity, nonce, certifiedAt: now, heardAt: now })
    this.#certify(key)
    const host = hello.host ?? remote
    this.#deps.directory.connected({ agentId, containerId, host, port, version }, local)
    return key
  }

  #certify(key: string): void {
    const line = this.#lines.get(key)
    if (!line) return
    const { authority, clock } = this.#deps
    const { publicKey } = line.identity
    line.certifiedAt = clock.now()
    this.#send(key, authority.welcome({ id: key, publicKey, nonce: line.nonce }, [...this.#revokedKeys]))
  }

  #send(key: string, message: ToAgent): boolean {
    const line = this.#lines.get(key)
    if (!line) return false
    if (line.socket.bufferedAmount > MAX_BUFFERED) line.socket.terminate()
    const text = JSON.stringify(message)
    this.#bytesSent += text.length
    line.socket.send(text)
    return true
  }

  /** A line that talks too much is not read for a while: the agent's own buffers fill, and nobody else's. */
  #slowDown(socket: WebSocket, ms: number): void {
    if (ms === 0 || socket.isPaused) return
    socket.pause()
    setTimeout(() => socket.resume(), ms).unref()
  }

  #heard(key: string | undefined): void {
    const line = key === undefined ? undefined : this.#lines.get(key)
    if (line) line.heardAt = this.#deps.clock.now()
  }

  #lost(key: string): void {
    const line = this.#lines.get(key)
    if (!line) return
    this.#lines.delete(key)
    const { agentId, containerId } = line.identity
    this.#deps.directory.gone({ agentId, containerId })
  }

  #ping(): void {
    const now = this.#deps.clock.now()
    for (const [key, line] of this.#lines) {
      if (now - line.heardAt > 3 * PING_MS) line.socket.terminate()
      else line.socket.ping()
      if (now - line.certifiedAt > LEAF_MS / 2) this.#certify(key)
    }
  }

  /** The signal of a revocation may be lost. Keys whose last certificate has ended by now are forgotten. */
  async learnRevoked(): Promise<void> {
    const keys = await this.#deps.identities.revoked()
    this.revoke(keys)
    this.#revokedKeys = new Set(keys)
  }
}

/** For a socket of a server that has no words of its own. */
function refusePlainly(socket: Duplex, { kind }: AppError): void {
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${kind.http} ${kind.code}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
}

/** IPv4 as such, not wrapped into IPv6. */
function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:/, '')
}
