import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A loopback address that stays, whatever happens to the server that it leads to. A port that was given back may be
 * another process' the next moment, so a server that is to come back on its old address gets a port of its own each
 * time, and callers come through here.
 */
export class Front {
  /** Where callers are led; while there is nobody, they are cut off. */
  to: number | undefined
  readonly port: number
  readonly #server: Server
  readonly #open = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (caller) => this.#lead(caller))
  }

  static async open(to?: number): Promise<Front> {
    // One side may be done while the other still sends.
    const server = createServer({ allowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const front = new Front(server)
    front.to = to
    return front
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Connections that are open now carry nothing any more, and stay open. New ones work. */
  fallSilent(): void {
    for (const socket of this.#open) socket.unpipe().pause()
  }

  /** Ends every connection that is open now. */
  cut(): void {
    for (const socket of this.#open) socket.resetAndDestroy()
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#open) socket.destroy()
    await closed
  }

  #lead(caller: Socket): void {
    if (this.to === undefined) {
      caller.on('error', () => undefined)
      caller.resetAndDestroy()
      return
    }
    const server = connect({ port: this.to, host: '127.0.0.1', allowHalfOpen: true })
    for (const [from, other] of [
      [caller, server],
      [server, caller],
    ] as const) {
      this.#open.add(from)
      from.setNoDelay()
      from.on('error', () => other.resetAndDestroy())
      from.on('close', () => this.#open.delete(from))
      from.pipe(other)
    }
  }
}

/** The port of an address that a server has printed. */
export function portOf(url: string): number {
  return Number(new URL(url).port)
}
