import type { TLSSocket } from 'node:tls'
import { Growth, type Holding } from './holding.ts'
import type { PeerId } from './peer-id.ts'
import { ACK_BYTES, frameHead, HEAD_BYTES, type PieceRequest } from './piece-frame.ts'
import type { RateLimit } from './rate-limit.ts'

/**
 * Pieces that may be on their way at once. What lies in buffers when a child is given another parent was sent for
 * nothing; two MiB keep a line of 300 Mbit/s busy over 50 ms.
 */
const WINDOW_PIECES = 8

/** One child being served: pieces go out as soon as they are here, and come back as numbers when they have arrived. */
export class Feed {
  readonly task: string
  readonly child: PeerId
  readonly #holding: Holding
  readonly #socket: TLSSocket
  readonly #upload: RateLimit
  readonly #acknowledged: Growth
  #ackBytes: Buffer = Buffer.alloc(0)

  constructor(
    { holding, socket, upload }: { holding: Holding; socket: TLSSocket; upload: RateLimit },
    { child, from }: { child: PeerId; from: number },
  ) {
    this.task = holding.task
    this.child = child
    this.#holding = holding
    this.#socket = socket
    this.#upload = upload
    this.#acknowledged = new Growth(from)
  }

  /** Pieces that lie here and have not arrived there. */
  get waiting(): number {
    return Math.max(0, this.#holding.have - this.#acknowledged.count)
  }

  async run({ from, count }: PieceRequest, signal: AbortSignal): Promise<void> {
    const { manifest } = this.#holding
    const end = count === null ? manifest.pieces : Math.min(manifest.pieces, from + count)
    // One piece at a time leaves this process; the kernel's buffer keeps the line busy meanwhile.
    const frame = Buffer.allocUnsafe(HEAD_BYTES + manifest.pieceBytes)
    for (let index = from; index < end; index++) {
      await this.#holding.beyond(index, signal)
      await this.#acknowledged.beyond(index - WINDOW_PIECES, signal)
      const length = manifest.lengthOf(index)
      frameHead(index, length).copy(frame)
      await this.#holding.read(index, frame.subarray(HEAD_BYTES, HEAD_BYTES + length))
      await this.#upload.take(length, signal)
      await this.#write(frame.subarray(0, HEAD_BYTES + length), signal)
    }
  }

  acknowledged(bytes: Buffer): void {
    const all = this.#ackBytes.length === 0 ? bytes : Buffer.concat([this.#ackBytes, bytes])
    const whole = all.length - (all.length % ACK_BYTES)
    const latest = whole > 0 ? all.readUInt32BE(whole - ACK_BYTES) : 0
    if (latest > this.#acknowledged.count) this.#acknowledged.grow(latest)
    this.#ackBytes = Buffer.from(all.subarray(whole))
  }

  async #write(frame: Buffer, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      this.#socket.write(frame, (error) => {
        signal.removeEventListener('abort', abort)
        if (error) reject(error)
        else resolve()
      })
    })
  }
}
