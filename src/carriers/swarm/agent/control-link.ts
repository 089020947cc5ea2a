import { WebSocket } from 'ws'
import { backoffDelay, type Clock, type Log, messageOf } from '../../../kernel/index.ts'
import { AGENT_SOCKET_PATH, type FromAgent, newNonce, PING_MS, type ToAgent } from '../wire/index.ts'
import { HOW_TO_ENROLL } from './enroll.ts'

export interface ControlLinkDeps {
  clock: Clock
  log: Log
  /** What to show when opening a line. */
  pass(): string
  /** What to say first on every new line, with a number of our own that the welcome must be signed with. */
  hello(challenge: string, nonce: string): FromAgent
  /** Throws unless it is the server's answer to that hello. */
  welcome(message: Extract<ToAgent, { type: 'welcome' }>, nonce: string): void
  /** Only what a server says that was welcomed on this very line. */
  receive(message: ToAgent): void
}

const RECONNECT = { base: 200, factor: 2, max: 5_000, jitter: 0.5 }
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
const UNAUTHORIZED = 401
const SAY_AWAY_MS = 60_000
const SERVICE_RESTART = 1012

/** The agent's line to the server: opened from here, kept open, opened again when it breaks. */
export class ControlLink {
  readonly #deps: ControlLinkDeps
  readonly #url: URL
  #socket: WebSocket | undefined
  #saidAway = Number.NEGATIVE_INFINITY

  constructor(deps: ControlLinkDeps, { server }: { server: string }) {
    this.#deps = deps
    this.#url = new URL(AGENT_SOCKET_PATH, server)
    this.#url.protocol = this.#url.protocol === 'https:' ? 'wss:' : 'ws:'
  }

  /** What is said while the line is down is lost: reports come again, and outcomes are asked for again. */
  send(message: FromAgent): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt++) {
      const opened = await this.#connectOnce(signal)
      if (opened) attempt = 1
      await this.#deps.clock.sleep(backoffDelay(attempt, RECONNECT), signal).catch(() => undefined)
    }
  }

  /** Said at the first failure and then once a minute: nobody shall wonder why nothing happens. */
  #away(opened: boolean, reason: string): void {
    const now = this.#deps.clock.now()
    if (!opened && now - this.#saidAway < SAY_AWAY_MS) return
    this.#saidAway = now
    const what = opened ? 'lost the connection to' : 'cannot reach'
    this.#deps.log.warn(`${what} ${this.#url.origin} (${reason}); will keep trying`)
  }

  /** One connection, from opening to closing. */
  async #connectOnce(signal: AbortSignal): Promise<boolean> {
    const socket = new WebSocket(this.#url, {
      headers: { authorization: `Bearer ${this.#deps.pass()}` },
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: 10_000,
      perMessageDeflate: false,
    })
    this.#socket = socket
    let opened = false
    let reason: string | undefined
    let heardAt = this.#deps.clock.now()
    const nonce = newNonce()
    let trusted = false
    const watch = setInterval(() => {
      if (this.#deps.clock.now() - heardAt > 4 * PING_MS) socket.terminate()
    }, PING_MS)
    const stop = () => socket.close()
    signal.addEventListener('abort', stop, { once: true })
    socket.on('open', () => {
      opened = true
    })
    socket.on('ping', () => {
      heardAt = this.#deps.clock.now()
    })
    socket.on('message', (data) => {
      heardAt = this.#deps.clock.now()
      try {
        const message = JSON.parse(String(data)) as ToAgent
        if (message.type === 'welcome') {
          this.#deps.welcome(message, nonce)
          if (!trusted) this.#deps.log.info({ server: this.#url.host }, 'connected')
          trusted = true
        } else if (trusted) this.#deps.receive(message)
        else if (message.type === 'challenge') this.send(this.#deps.hello(message.nonce, nonce))
        else throw new Error(`${message.type} came before the welcome`)
      } catch (error) {
        if (!trusted) {
          reason = messageOf(error)
          socket.terminate()
        } else this.#deps.log.warn({ err: error }, 'a message from the server was not understood')
      }
    })
    socket.on('unexpected-response', (_request, response) => {
      reason =
        response.statusCode === UNAUTHORIZED
          ? `it does not know this agent, or no longer; to enrol it, ${HOW_TO_ENROLL}`
          : `it answered ${response.statusCode}`
      socket.terminate()
    })
    socket.on('error', (error) => {
      // What the server said comes first: giving up after its answer is an error, too.
      reason ??= errorReason(error)
    })
    await new Promise<void>((resolve) => {
      socket.once('close', (code, reason) => {
        if (code === SERVICE_RESTART) this.#deps.log.info({ server: this.#url.host }, String(reason))
        resolve()
      })
    })
    clearInterval(watch)
    signal.removeEventListener('abort', stop)
    if (!signal.aborted) this.#away(opened, reason ?? 'the connection was closed')
    return opened
  }
}

function errorReason(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message
}
