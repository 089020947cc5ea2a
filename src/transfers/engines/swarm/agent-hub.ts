import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { matchesHash } from '../../../engine/index.ts'
import type { Clock, Log } from '../../../kernel/index.ts'
import type { AgentDirectory } from './agent-directory.ts'
import { LEAF_MS, type SwarmAuthority } from './authority.ts'
import { readAgentMessage } from './read-agent-message.ts'
import { type FromAgent, KNOCK_MS, type ToAgent } from './wire/control-message.ts'
import { agentPeerId } from './wire/peer-id.ts'

export interface AgentHubDeps {
  authority: SwarmAuthority
  directory: AgentDirectory
  clock: Clock
  log: Log
  tokenHash: string
}

interface Line {
  socket: WebSocket
  hello: Extract<FromAgent, { type: 'hello' }>
  certifiedAt: number
  heardAt: number
}

const HELLO_WITHIN_MS = 10_000
/** For the answer to the close frame of a server that stops. */
const CLOSE_MS = 200
const SERVICE_RESTART = 1012
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
/** An agent that takes no more of what it is told is let go; it comes back and is told anew. */
const MAX_BUFFERED = 128 * 1024 * 1024

/** The agents whose control line ends here: lets them in, certifies them, and carries messages both ways. */
export class AgentHub {
  readonly #deps: AgentHubDeps
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  readonly #lines = new Map<string, Line>()
  #knocking: NodeJS.Timeout | undefined
  #bytesSent = 0

  constructor(deps: AgentHubDeps) {
    this.#deps = deps
    deps.directory.onSend((key, message) => this.#send(key, message))
  }

  start(): void {
    this.#knocking ??= setInterval(() => this.#knock(), KNOCK_MS)
    this.#knocking.unref()
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
    clearInterval(this.#knocking)
    this.#lines.clear()
    for (const client of this.#server.clients) client.terminate()
  }

  /** Bytes of control messages that left. */
  get bytesSent(): number {
    return this.#bytesSent
  }

  /** Handles `GET /ws/agent` with `Authorization: Bearer WHARF_AGENT_TOKEN`. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined || !matchesHash(token, this.#deps.tokenHash)) {
      socket.once('finish', () => socket.destroy())
      socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      return
    }
    this.#server.handleUpgrade(request, socket, head, (client) =>
      this.#greet(client, {
        remote: plainAddress(request.socket.remoteAddress),
        local: plainAddress(request.socket.localAddress),
      }),
    )
  }

  #greet(socket: WebSocket, addresses: { remote: string; local: string }): void {
    const late = setTimeout(() => socket.terminate(), HELLO_WITHIN_MS)
    let key: string | undefined
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      clearTimeout(late)
      if (key !== undefined && this.#lines.get(key)?.socket === socket) this.#lost(key)
    })
    socket.on('pong', () => this.#heard(key))
    socket.on('message', (data) => {
      this.#heard(key)
      try {
        const message = readAgentMessage(String(data))
        if (message.type === 'hello') {
          clearTimeout(late)
          key = this.#welcome(socket, message, addresses)
        } else if (key !== undefined) this.#deps.directory.received(key, message)
      } catch (error) {
        this.#deps.log.warn({ err: error, agent: key }, 'an agent sent what is not understood')
        socket.terminate()
      }
    })
  }

  #welcome(socket: WebSocket, hello: Line['hello'], addresses: { remote: string; local: string }): string {
    const { agent_id: agentId, container_id: containerId, port, version } = hello
    const key = agentPeerId(agentId, containerId)
    const older = this.#lines.get(key)
    if (older && older.socket !== socket) {
      this.#deps.log.info({ agent: key }, 'an agent connected again; its older line is closed')
      older.socket.terminate()
    }
    const now = this.#deps.clock.now()
    this.#lines.set(key, { socket, hello, certifiedAt: now, heardAt: now })
    this.#certify(key)
    const host = hello.host ?? addresses.remote
    this.#deps.directory.connected({ agentId, containerId, host, port, version }, addresses.local)
    return key
  }

  #certify(key: string): void {
    const line = this.#lines.get(key)
    if (!line) return
    const { authority, clock } = this.#deps
    const { agent_id, container_id, public_key } = line.hello
    line.certifiedAt = clock.now()
    this.#send(key, {
      type: 'welcome',
      certificate: authority.certify(agentPeerId(agent_id, container_id), public_key),
      authority: authority.certificate,
      verify_key: authority.verifyKeyPem,
      now: clock.now(),
    })
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

  #heard(key: string | undefined): void {
    const line = key === undefined ? undefined : this.#lines.get(key)
    if (line) line.heardAt = this.#deps.clock.now()
  }

  #lost(key: string): void {
    const line = this.#lines.get(key)
    if (!line) return
    this.#lines.delete(key)
    this.#deps.directory.gone({ agentId: line.hello.agent_id, containerId: line.hello.container_id })
  }

  #knock(): void {
    const now = this.#deps.clock.now()
    for (const [key, line] of this.#lines) {
      if (now - line.heardAt > 3 * KNOCK_MS) line.socket.terminate()
      else line.socket.ping()
      if (now - line.certifiedAt > LEAF_MS / 2) this.#certify(key)
    }
    this.#deps.directory.runOnce().catch((error) => this.#deps.log.warn({ err: error }, 'agents not noted'))
  }
}

/** IPv4 as such, not wrapped into IPv6. */
function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:/, '')
}
