import type { TLSSocket } from 'node:tls'

const LANDING_BYTES = 64 * 1024
/** TLS hands over everything it has decrypted even after a stop: one more landing always finds room. */
const STAGE_BYTES = 4 * LANDING_BYTES

/**
 * Takes exact amounts from a socket and holds the sender back while nobody asks. Bytes go straight to where they are
 * wanted, or wait in one buffer that is used all the time: with a buffer for each read, a busy agent's memory is mostly
 * garbage that waits for its collection.
 */
export class ExactReader {
  readonly #stage = Buffer.allocUnsafe(STAGE_BYTES)
  #from = 0
  #to = 0
  #wanted: { target: Buffer; filled: number; resolve(): void; reject(reason: unknown): void } | undefined
  #socket: TLSSocket | undefined
  #over: Error | undefined

  /** To be given to the socket at its making. */
  readonly onread = {
    buffer: Buffer.allocUnsafe(LANDING_BYTES),
    callback: (count: number, landed: Uint8Array): boolean => {
      this.firstAt ??= performance.now()
      const used = this.#give(landed, count)
      return used === count || this.#keep(landed.subarray(used, count))
    },
  }

  /** When the first byte was there, by `performance.now()`. */
  firstAt: number | undefined

  attach(socket: TLSSocket): void {
    this.#socket = socket
    const end = () => {
      this.#over ??= new Error('the parent broke off')
      this.#wanted?.reject(this.#over)
      this.#wanted = undefined
    }
    socket.on('end', end)
    socket.on('close', end)
  }

  fill(target: Buffer): Promise<void> {
    const ready = Math.min(target.length, this.#to - this.#from)
    this.#stage.copy(target, 0, this.#from, this.#from + ready)
    this.#from += ready
    if (ready === target.length) return Promise.resolve()
    if (this.#over) return Promise.reject(this.#over)
    this.#socket?.resume()
    return new Promise((resolve, reject) => {
      this.#wanted = { target, filled: ready, resolve, reject }
    })
  }

  /** Straight to where it is wanted. Answers how much was. */
  #give(landed: Uint8Array, count: number): number {
    const wanted = this.#wanted
    if (!wanted) return 0
    const used = Math.min(count, wanted.target.length - wanted.filled)
    wanted.target.set(used === landed.length ? landed : landed.subarray(0, used), wanted.filled)
    wanted.filled += used
    if (wanted.filled === wanted.target.length) {
      this.#wanted = undefined
      wanted.resolve()
    }
    return used
  }

  /** For the next caller. False when that is enough for now. */
  #keep(bytes: Uint8Array): boolean {
    if (this.#to + bytes.length > STAGE_BYTES) {
      this.#stage.copyWithin(0, this.#from, this.#to)
      this.#to -= this.#from
      this.#from = 0
    }
    if (this.#to + bytes.length > STAGE_BYTES) {
      this.#socket?.destroy()
      return false
    }
    this.#stage.set(bytes, this.#to)
    this.#to += bytes.length
    return this.#to - this.#from < LANDING_BYTES
  }
}
