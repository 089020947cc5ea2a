import { createHash } from 'node:crypto'
import { bestEffort, openFile, orAborted } from '../kernel/index.ts'
import type { ArtifactSource } from './artifact-store.ts'

const READ_BYTES = 256 * 1024

/** Bytes on their way, counted and hashed as they pass. A chunk is good until the next is asked for: those of a file share their memory. */
export class Hashed implements AsyncIterable<Buffer> {
  readonly #source: ArtifactSource
  readonly #signal: AbortSignal | undefined
  readonly #hash = createHash('sha256')
  #size = 0

  constructor(source: ArtifactSource, signal?: AbortSignal) {
    this.#source = source
    this.#signal = signal
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const source = this.#source
    const bytes = 'path' in source ? readFile(source.path) : source
    for await (const chunk of untilAborted<Uint8Array>(bytes, this.#signal)) {
      this.#hash.update(chunk)
      this.#size += chunk.byteLength
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    }
  }

  get size(): number {
    return this.#size
  }

  /** Once, when all has passed. */
  sha256(): string {
    return this.#hash.digest('hex')
  }
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  const file = await openFile(path, 'r')
  try {
    const memory = Buffer.allocUnsafeSlow(READ_BYTES)
    for (;;) {
      const { bytesRead } = await file.read(memory, 0, READ_BYTES, null)
      if (bytesRead === 0) return
      yield memory.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** Ends with the signal's reason even while the source keeps everyone waiting for its next piece. */
async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  if (!signal) {
    yield* source
    return
  }
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const step = await orAborted(iterator.next(), signal)
      if (step.done) break
      yield step.value
    }
  } finally {
    // Not awaited: a generator that hangs in its own await would never come back.
    if (iterator.return) bestEffort(iterator.return())
  }
}
