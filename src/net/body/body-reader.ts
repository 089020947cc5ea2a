import { AppError, counted, ERRORS } from '../../kernel/index.ts'

/** Passes the body on and stops it where it grows beyond the limit: counted after decompression. */
export async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes)
      throw new AppError(
        ERRORS.BODY_TOO_LARGE_REMOTE,
        `the answer is larger than ${counted(maxBytes, 'byte')}`,
        {
          retryable: false,
          details: { max_bytes: maxBytes },
        },
      )
    yield chunk
  }
}

/** The whole body in memory, or an error as soon as it is larger than it may be. */
export async function readAll(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of limitBytes(body, maxBytes)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
