import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { EventBatch } from '../../notify/index.ts'
import type { EndReason, Line } from './watchers.ts'

const CLOSINGS: Record<EndReason, [code: number, text: string]> = {
  'shutting down': [1001, 'shutting down; connect again with after=SEQ'],
  'internal error': [1011, 'internal error; connect again with after=SEQ'],
  'key ended': [1008, 'the key or project has ended'],
  'too slow': [1013, 'too slow; connect again with after=SEQ'],
}
/** More than this in the process' own buffer means that the peer does not keep up. */
const HIGH_WATER_BYTES = 64 * 1024
/** Heartbeats that a peer may leave unanswered. */
const MISSED_PONGS = 2

/** One message per event on an open WebSocket. */
export class WebSocketLine implements Line {
  readonly transport = 'websocket'
  readonly #client: WebSocket
  readonly #socket: Duplex
  #unanswered = 0

  constructor(client: WebSocket, socket: Duplex) {
    this.#client = client
    this.#socket = socket
    client.on('pong', () => {
      this.#unanswered = 0
    })
  }

  send({ messages }: EventBatch): Promise<void> | undefined {
    const client = this.#client
    const { promise, resolve } = Promise.withResolvers<void>()
    const last = messages.length - 1
    // The messages of a batch leave in one piece.
    this.#socket.cork()
    // The callback also comes, with an error, when the socket is closed.
    for (const [index, message] of messages.entries())
      client.send(message, { binary: false }, index === last ? () => resolve() : undefined)
    this.#socket.uncork()
    return client.bufferedAmount > HIGH_WATER_BYTES ? promise : undefined
  }

  /** Finds out about peers that vanished without a word. */
  beat(): void {
    if (this.#unanswered++ >= MISSED_PONGS) this.#client.terminate()
    else this.#client.ping()
  }

  end(reason: EndReason): void {
    this.#client.close(...CLOSINGS[reason])
  }
}
