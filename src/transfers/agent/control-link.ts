import { WebSocket } from 'ws'
import { backoffDelay, type Clock, type Log, messageOf } from '../../kernel/index.ts'
import {
  AGENT_SOCKET_PATH,
  type FromAgent,
  KNOCK_MS,
  type ToAgent,
} from '../engines/swarm/wire/control-message.ts'

export interface ControlLinkDeps {
  clock: Clock
  log: Log
  /** What to say first on every new line. */
  hello(): FromAgent
  receive(message: ToAgent): void
}

const RECONNECT = { base: 200, factor: 2, max: 5_000, jitter: 0.5 }
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
const UNAUTHORIZED = 401
const SERVICE_RESTART = 1012

/** The agent's line to the server: opened from here, kept open, opened again when it breaks. */
export class ControlLink {
  readonly #deps: ControlLinkDeps
  readonly #url: URL
  readonly #token: string
  #socket: WebSocket | undefined

  constructor(deps: ControlLinkDeps, { server, token }: { server: string; token: string }) {
    this.#deps = deps
    this.#url = new URL(AGENT_SOCKET_PATH, server)
    this.#url.protocol = this.#url.protocol === 'https:' ? 'wss:' : 'ws:'
    this.#token = token
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

  /** One connection, from opening to closing. */
  async #connectOnce(signal: AbortSignal): Promise<boolean> {
    const socket = new WebSocket(this.#url, {
      headers: { authorization: `Bearer ${this.#token}` },
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: 10_000,
      perMessageDeflate: false,
    })
    this.#socket = socket
    let opened = false
    let heardAt = this.#deps.clock.now()
    const watch = setInterval(() => {
      if (this.#deps.clock.now() - heardAt > 4 * KNOCK_MS) socket.terminate()
    }, KNOCK_MS)
    const stop = () => socket.close()
    signal.addEventListener('abort', stop, { once: true })
    socket.on('open', () => {
      opened = true
      this.#deps.log.info({ server: this.#url.host }, 'connected')
      this.send(this.#deps.hello())
    })
    socket.on('ping', () => {
      heardAt = this.#deps.clock.now()
    })
    socket.on('message', (data) => {
      heardAt = this.#deps.clock.now()
      try {
        this.#deps.receive(JSON.parse(String(data)) as ToAgent)
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'a message from the server was not understood')
      }
    })
    socket.on('unexpected-response', (_request, response) => {
      const wrong = response.statusCode === UNAUTHORIZED ? '; is WHARF_AGENT_TOKEN right?' : ''
      this.#deps.log.warn(`the server answered ${response.statusCode}${wrong}`)
      socket.terminate()
    })
    socket.on('error', (error) => this.#deps.log.debug(messageOf(error)))
    await new Promise<void>((resolve) => {
      socket.once('close', (code, reason) => {
        if (code === SERVICE_RESTART) this.#deps.log.info({ server: this.#url.host }, String(reason))
        resolve()
      })
    })
    clearInterval(watch)
    signal.removeEventListener('abort', stop)
    return opened
  }
}
