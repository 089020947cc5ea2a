import {
  ArrivingPiece,
  connectParent,
  type ParentLine,
  receiveBlock,
  receiveHead,
  requestLine,
} from '../pieces/index.ts'
import type { Credentials, Manifest } from '../wire/index.ts'

/** Takes one block and throws it away, to learn how fast a line is. Bytes and milliseconds from the first byte on. */
export async function probeLine(
  credentials: Credentials,
  manifest: Manifest,
  { parent, ticket, piece }: { parent: ParentLine; ticket: string; piece: number },
  signal: AbortSignal,
): Promise<{ bytes: number; ms: number }> {
  const { socket, input } = await connectParent(credentials, parent, signal)
  const abort = () => socket.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const arriving = new ArrivingPiece(manifest)
    arriving.expect(piece)
    socket.write(requestLine({ ticket, from: piece, blocks: 1 }))
    await receiveHead(input, arriving)
    await receiveBlock(input, arriving)
    return { bytes: arriving.checked, ms: performance.now() - (input.firstAt ?? performance.now()) }
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}
