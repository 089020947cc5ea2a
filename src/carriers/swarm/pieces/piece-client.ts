import type { OnReadOpts } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type Credentials, type PeerId, peerIdOf, tlsOptions } from '../wire/index.ts'
import type { ArrivingPiece } from './arriving-piece.ts'
import { ExactReader } from './exact-reader.ts'
import { HEAD_BYTES, MAX_REFUSAL_BYTES, REFUSAL } from './piece-frame.ts'

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

/** A connection to a parent whose certificate names exactly the peer that the server named. */
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

/** Takes the next piece, block by block, each checked before `grown` is called. */
export async function receivePiece(
  input: ExactReader,
  piece: ArrivingPiece,
  grown: () => void,
): Promise<void> {
  await receiveHead(input, piece)
  while (!piece.isWhole) {
    await receiveBlock(input, piece)
    grown()
  }
}

/** Throws when the parent breaks off, refuses, or sends what the manifest does not say. */
export async function receiveHead(input: ExactReader, piece: ArrivingPiece): Promise<void> {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  await input.fill(head)
  const index = head.readUInt32BE(0)
  const length = head.readUInt32BE(4)
  if (index === REFUSAL) {
    const reason = Buffer.alloc(Math.min(length, MAX_REFUSAL_BYTES))
    await input.fill(reason)
    throw new ParentRefused(reason.toString('utf8'))
  }
  if (index !== piece.index || length !== piece.bytes.length)
    throw new ParentRefused(`the parent sent piece ${index} of ${length} bytes where ${piece.index} was next`)
  await input.fill(piece.blockHashes)
  piece.checkHashes()
}

export async function receiveBlock(input: ExactReader, piece: ArrivingPiece): Promise<void> {
  await input.fill(piece.nextBlock)
  piece.checkBlock()
}
