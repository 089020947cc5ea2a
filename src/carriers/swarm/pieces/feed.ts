import type { TLSSocket } from 'node:tls'
import { HASH_BYTES, hashBlocks, type PeerId } from '../wire/index.ts'
import type { Holding } from './holding.ts'
import { ACK_BYTES, HEAD_BYTES, type PieceRequest, writeHead } from './piece-frame.ts'
import type { RateLimit } from './rate-limit.ts'

/**
 * Pieces that may be on their way at once. What is in buffers when a child is given another parent was sent for
 * nothing; two MiB keep a line of 300 Mbit/s busy over 50 ms.
 */
const WINDOW_PIECES = 8

/**
 * One child being served: blocks go out as soon as they are here and checked, and come back as numbers of pieces when
 * they have arrived. One write at a time leaves this process; the kernel's buffer keeps the line busy meanwhile. No
 * promise is made for a block that comes from memory: an agent passes on thousands, mostly in code that runs for the
 * first time.
 */
export class Feed {
  readonly task: string
  readonly child: PeerId
  readonly #holding: Holding
  readonly #socket: TLSSocket
  readonly #upload: RateLimit
  readonly #end: number
  /** Bytes of a piece that are wanted. */
  readonly #most: number
  readonly #frame: Buffer
  readonly #over = new AbortController()
  #unwatch: (() => void) | undefined
  #busy = false
  /** What is sent next: the piece, and how much of it has gone. */
  #index: number
  #sent = 0
  #acknowledged: number
  #ackBytes: Buffer = Buffer.alloc(0)

  constructor(
    { holding, socket, upload }: { holding: Holding; socket: TLSSocket; upload: RateLimit },
    { child, request: { from, blocks } }: { child: PeerId; request: PieceRequest },
  ) {
    const { manifest } = holding
    this.task = holding.task
    this.child = child
    this.#holding = holding
    this.#socket = socket
    this.#upload = upload
    this.#index = from
    this.#acknowledged = from
    this.#end = blocks === null ? manifest.pieces : Math.min(manifest.pieces, from + 1)
    this.#most = blocks === null ? manifest.pieceBytes : blocks * manifest.blockBytes
    const hashes = Math.ceil(manifest.pieceBytes / manifest.blockBytes) * HASH_BYTES
    this.#frame = Buffer.allocUnsafe(HEAD_BYTES + hashes + manifest.pieceBytes)
  }

  /** Pieces that lie here and have not arrived there. */
  get waiting(): number {
    return Math.max(0, this.#holding.have - this.#acknowledged)
  }

  start(): void {
    const ended = () => {
      if (this.#index < this.#end) this.#socket.destroy()
    }
    this.#unwatch = this.#holding.watch({ grown: () => this.#pump(), ended })
    this.#pump()
  }

  stop(): void {
    this.#unwatch?.()
    this.#over.abort(new Error('the child is gone'))
  }

  acknowledged(bytes: Buffer): void {
    const all = this.#ackBytes.length === 0 ? bytes : Buffer.concat([this.#ackBytes, bytes])
    const whole = all.length - (all.length % ACK_BYTES)
    const latest = whole > 0 ? all.readUInt32BE(whole - ACK_BYTES) : 0
    this.#ackBytes = Buffer.from(all.subarray(whole))
    if (latest <= this.#acknowledged) return
    this.#acknowledged = latest
    this.#pump()
  }

  /** Sends whatever can be sent now; to be called whenever that may have changed. */
  #pump(): void {
    if (this.#busy || this.#over.signal.aborted || this.#index >= this.#end) return
    if (this.#index >= this.#acknowledged + WINDOW_PIECES) return
    const live = this.#holding.live(this.#index)
    if (live) {
      if (live.checked <= this.#sent) return
      if (this.#sent === 0) live.blockHashes.copy(this.#frame, HEAD_BYTES)
      live.bytes.copy(this.#frame, this.#bytesAt + this.#sent, this.#sent, live.checked)
      this.#send(live.checked)
    } else if (this.#index < this.#holding.have) this.#sendStored()
  }

  /** Where the piece's bytes begin in its frame. */
  get #bytesAt(): number {
    return HEAD_BYTES + this.#holding.manifest.blocksOf(this.#index) * HASH_BYTES
  }

  #sendStored(): void {
    const { manifest } = this.#holding
    const length = manifest.lengthOf(this.#index)
    const bytes = this.#frame.subarray(this.#bytesAt, this.#bytesAt + length)
    this.#busy = true
    this.#holding.read(this.#index, bytes).then(
      () => {
        hashBlocks(bytes, manifest.blockBytes).copy(this.#frame, HEAD_BYTES)
        this.#send(length)
      },
      () => this.#socket.destroy(),
    )
  }

  /** Sends the piece from its present place up to here. */
  #send(upTo: number): void {
    const length = this.#holding.manifest.lengthOf(this.#index)
    if (this.#sent === 0) writeHead(this.#frame, this.#index, length)
    const from = this.#sent === 0 ? 0 : this.#bytesAt + this.#sent
    const bytes = this.#frame.subarray(from, this.#bytesAt + Math.min(upTo, this.#most))
    this.#busy = true
    const write = () => this.#socket.write(bytes, (error) => this.#written(error))
    if (this.#upload.isOpen) write()
    else this.#upload.take(upTo - this.#sent, this.#over.signal).then(write, () => undefined)
    this.#sent = upTo
    if (upTo < length) return
    this.#index++
    this.#sent = 0
  }

  #written(error: Error | null | undefined): void {
    this.#busy = false
    if (error) this.#socket.destroy()
    else this.#pump()
  }
}
