import { connect, type TLSSocket } from 'node:tls'
import { type Credentials, tlsOptions } from './credentials.ts'
import { type PeerId, peerIdOf } from './peer-id.ts'
import { HEAD_BYTES, MAX_REFUSAL_BYTES, type PieceRequest, REFUSAL } from './piece-frame.ts'

export interface ParentLine {
  id: PeerId
  host: string
  port: number
}

const CONNECT_WITHIN_MS = 5_000

export class ParentRefused extends Error {
  override readonly name = 'ParentRefused'
}

/** A line to a parent whose certificate names exactly the peer that the server told of. */
export function connectParent(
  credentials: Credentials,
  parent: ParentLine,
  signal: AbortSignal,
): Promise<TLSSocket> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...tlsOptions(credentials),
      host: parent.host,
      port: parent.port,
      checkServerIdentity: (_host, certificate) =>
        peerIdOf(certificate.subjectaltname) === parent.id
          ? undefined
          : new Error(`the peer at ${parent.host} is not ${parent.id}`),
    })
    const fail = (error: unknown) => {
      clearTimeout(late)
      signal.removeEventListener('abort', abort)
      socket.destroy()
      reject(error)
    }
    const abort = () => fail(signal.reason)
    const late = setTimeout(() => fail(new Error(`${parent.id} did not answer`)), CONNECT_WITHIN_MS)
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      clearTimeout(late)
      signal.removeEventListener('abort', abort)
      socket.off('error', fail)
      socket.on('error', () => undefined)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 10_000)
      resolve(socket)
    })
  })
}

export interface Piece {
  index: number
  bytes: Buffer
}

/**
 * The pieces that a parent sends, from `request.from` on. A piece's bytes are good until the next one is asked for:
 * one buffer serves the whole line. Throws when the parent breaks off before the last piece.
 */
export async function* readPieces(
  socket: TLSSocket,
  request: PieceRequest,
  { pieces, lengthOf }: { pieces: number; lengthOf(index: number): number },
): AsyncGenerator<Piece> {
  socket.write(`${JSON.stringify(request)}\n`)
  const end = request.count === null ? pieces : Math.min(pieces, request.from + request.count)
  const input = new ExactReader(socket)
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  const buffer = Buffer.allocUnsafe(request.from < end ? lengthOf(request.from) : 0)
  for (let wanted = request.from; wanted < end; wanted++) {
    await input.fill(head)
    const index = head.readUInt32BE(0)
    const length = head.readUInt32BE(4)
    if (index === REFUSAL) {
      const reason = Buffer.alloc(Math.min(length, MAX_REFUSAL_BYTES))
      await input.fill(reason)
      throw new ParentRefused(reason.toString('utf8'))
    }
    if (index !== wanted || length !== lengthOf(index))
      throw new ParentRefused(`the parent sent piece ${index} of ${length} bytes where ${wanted} was next`)
    const bytes = buffer.subarray(0, length)
    await input.fill(bytes)
    yield { index, bytes }
  }
}

/** Takes exact amounts from a socket, and leaves the rest where it holds the sender back. */
class ExactReader {
  readonly #socket: TLSSocket
  #wake: (() => void) | undefined
  #over: Error | undefined

  constructor(socket: TLSSocket) {
    this.#socket = socket
    const wake = () => this.#wake?.()
    socket.on('readable', wake)
    const end = () => {
      this.#over ??= new Error('the parent broke off')
      wake()
    }
    socket.on('end', end)
    socket.on('close', end)
  }

  async fill(target: Buffer): Promise<void> {
    let filled = 0
    while (filled < target.length) {
      const left = target.length - filled
      const chunk = (this.#socket.read(Math.min(left, this.#socket.readableLength || left)) ??
        null) as Buffer | null
      if (chunk) {
        chunk.copy(target, filled)
        filled += chunk.length
        continue
      }
      if (this.#over) throw this.#over
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
