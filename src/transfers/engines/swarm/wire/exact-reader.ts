import type { TLSSocket } from 'node:tls'

const LANDING_BYTES = 64 * 1024
/** TLS hands over everything it has decrypted even after a stop: one more landing always finds room. */
const STAGE_BYTES = 4 * LANDING_BYTES

/**
 * Takes exact amounts from a socket and holds the sender back while nobody asks. Bytes land in the same two buffers
 * all the time: with a buffer for each read, a busy agent's memory is mostly garbage that waits for its collection.
 */
export class ExactReader {
  readonly #stage = Buffer.allocUnsafe(STAGE_BYTES)
  #from = 0
  #to = 0
  #socket: TLSSocket | undefined
  #wake: (() => void) | undefined
  #over: Error | undefined

  /** To be given to the socket at its making. */
  readonly onread = {
    buffer: Buffer.allocUnsafe(LANDING_BYTES),
    callback: (count: number, landed: Uint8Array): boolean => {
      if (this.#to + count > STAGE_BYTES) {
        this.#stage.copyWithin(0, this.#from, this.#to)
        this.#to -= this.#from
        this.#from = 0
      }
      if (this.#to + count > STAGE_BYTES) {
        this.#socket?.destroy()
        return false
      }
      this.#stage.set(landed.subarray(0, count), this.#to)
      this.#to += count
      this.#wake?.()
      return this.#to - this.#from < LANDING_BYTES
    },
  }

  /** When the first byte was there, by `performance.now()`. */
  firstAt: number | undefined

  attach(socket: TLSSocket): void {
    this.#socket = socket
    const end = () => {
      this.#over ??= new Error('the parent broke off')
      this.#wake?.()
    }
    socket.on('end', end)
    socket.on('close', end)
  }

  async fill(target: Buffer): Promise<void> {
    let filled = 0
    while (filled < target.length) {
      const ready = Math.min(target.length - filled, this.#to - this.#from)
      if (ready > 0) {
        this.firstAt ??= performance.now()
        this.#stage.copy(target, filled, this.#from, this.#from + ready)
        this.#from += ready
        filled += ready
        continue
      }
      if (this.#over) throw this.#over
      this.#socket?.resume()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
