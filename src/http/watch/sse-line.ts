import type { ServerResponse } from 'node:http'
import type { EventBatch } from '../../notify/index.ts'
import type { EndReason, Line } from './watchers.ts'

/** After this long a browser that lost its stream comes back. */
const RETRY_MS = 2_000
/** What a reader that was dropped gets to read the reason, before its connection is cut. */
const FAREWELL_MS = 60_000

/** Server-sent events on a response whose head is not sent yet. */
export class SseLine implements Line {
  readonly transport = 'sse'
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      // nginx would keep events back until its buffer is full.
      'X-Accel-Buffering': 'no',
    })
    // At once, so that a reader knows it is heard before anything happens.
    response.write(`retry: ${RETRY_MS}\n\n`)
  }

  send(batch: EventBatch): Promise<void> | undefined {
    const response = this.#response
    if (response.writableEnded || response.destroyed || response.write(batch.sse)) return undefined
    return new Promise((resolve) => {
      const taken = () => {
        response.off('drain', taken).off('close', taken)
        resolve()
      }
      response.on('drain', taken).on('close', taken)
    })
  }

  beat(): void {
    this.#response.write(': heartbeat\n\n')
  }

  /** Without an `id`: the reader comes back after the last event it has seen, not the last one that was sent. */
  end(reason: EndReason): void {
    const response = this.#response
    if (response.writableEnded) return
    response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    const cut = setTimeout(() => response.destroy(), FAREWELL_MS).unref()
    response.once('close', () => clearTimeout(cut))
  }
}
