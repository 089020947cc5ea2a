import type { Credentials } from '../engines/swarm/wire/credentials.ts'
import type { Manifest } from '../engines/swarm/wire/manifest.ts'
import { connectParent, type ParentLine, readPieces } from '../engines/swarm/wire/piece-client.ts'

/** Takes one piece and throws it away, to learn how fast a line is. Bytes and milliseconds from the first byte on. */
export async function probeLine(
  credentials: Credentials,
  manifest: Manifest,
  { parent, ticket, piece }: { parent: ParentLine; ticket: string; piece: number },
  signal: AbortSignal,
): Promise<{ bytes: number; ms: number }> {
  const line = await connectParent(credentials, parent, signal)
  const { socket, input } = line
  const abort = () => socket.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const shape = { pieces: manifest.pieces, lengthOf: (index: number) => manifest.lengthOf(index) }
    let bytes = 0
    for await (const got of readPieces(line, { ticket, from: piece, count: 1 }, shape))
      bytes += got.bytes.length
    return { bytes, ms: performance.now() - (input.firstAt ?? performance.now()) }
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}
