import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { endsBefore, endsWithin, systemClock } from '../../kernel/index.ts'

/** How long streams, sockets and clients that have just connected get when the server closes. */
const LINGER_MS = 300
/** How long the last answers may take to leave. */
const FLUSH_MS = 100

/** The server's connections and the answers under way on them, so that it can close without losing one or waiting for ever. */
export class Connections {
  readonly #sockets = new Set<Socket>()
  readonly #answers = new Set<FastifyReply>()
  #leaving = false
  #onGone: (() => void) | undefined

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        this.#tellIfGone()
      })
    })
  }

  /** `endless` answers are not waited for. */
  answering(reply: FastifyReply, { endless }: { endless: boolean }): void {
    if (this.#leaving) reply.raw.shouldKeepAlive = false
    if (endless) return
    this.#answers.add(reply)
    reply.raw.once('close', () => {
      this.#answers.delete(reply)
      this.#tellIfGone()
    })
  }

  /** From here on each answer closes its connection, so that the client's next request goes elsewhere. */
  leave(): void {
    this.#leaving = true
    for (const { raw } of this.#answers) if (!raw.headersSent) raw.shouldKeepAlive = false
  }

  /**
   * Resolves when every connection is gone. Answers may end until `until` aborts; those that have not begun by then are
   * given to `refuse`, and the others are cut. Whatever else is connected is cut after a moment.
   */
  async finish(until: AbortSignal, refuse: (reply: FastifyReply) => void): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      this.#onGone = resolve
    })
    this.#tellIfGone()
    await endsWithin(systemClock, LINGER_MS, gone)
    this.#cutIdle()
    await endsBefore(until, gone)
    for (const reply of this.#answers) if (!reply.raw.headersSent) refuse(reply)
    await endsWithin(systemClock, FLUSH_MS, gone)
    for (const socket of this.#sockets) socket.destroy()
    // What counts the bytes sent does so at the end of the answer, and must find the server as it was.
    await endsWithin(systemClock, FLUSH_MS, gone)
  }

  #cutIdle(): void {
    const busy = new Set([...this.#answers].map(({ raw }) => raw.socket))
    for (const socket of this.#sockets) if (!busy.has(socket)) socket.destroy()
  }

  #tellIfGone(): void {
    if (this.#sockets.size + this.#answers.size === 0) this.#onGone?.()
  }
}
