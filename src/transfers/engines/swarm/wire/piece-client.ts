import type { OnReadOpts } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type Credentials, tlsOptions } from './credentials.ts'
import { ExactReader } from './exact-reader.ts'
import { type PeerId, peerIdOf } from './peer-id.ts'
import { HEAD_BYTES, MAX_REFUSAL_BYTES, type PieceRequest, REFUSAL } from './piece-frame.ts'

export interface ParentLine {
  id: PeerId
  host: string
  port: number
}

export interface PieceLine {
  socket: TLSSocket
  input: ExactReader
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
): Promise<PieceLine> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const input = new ExactReader()
    // Node takes `onread` here as for any socket; its types do not know it.
    const options: ConnectionOptions & { onread: OnReadOpts } = {
      ...tlsOptions(credentials),
      onread: input.onread,
      host: parent.host,
      port: parent.port,
      checkServerIdentity: (_host, certificate) =>
        peerIdOf(certificate.subjectaltname) === parent.id
          ? undefined
          : new Error(`the peer at ${parent.host} is not ${parent.id}`),
    }
    const socket = connect(options)
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
      input.attach(socket)
      resolve({ socket, input })
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
  { socket, input }: PieceLine,
  request: PieceRequest,
  { pieces, lengthOf }: { pieces: number; lengthOf(index: number): number },
): AsyncGenerator<Piece> {
  socket.write(`${JSON.stringify(request)}\n`)
  const end = request.count === null ? pieces : Math.min(pieces, request.from + request.count)
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
