import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import type { Compression } from '../records/index.ts'

const QUOTE = 0x22
const NEWLINE = 0x0a

export interface SeenFile {
  size: number
  sha256: string
  /** Of a CSV file, its header included. */
  records: number
}

/** Reads a file once: its hash, its size and, taken for CSV, its records. `width`: bytes of a character in UTF-16. */
export async function lookAtFile(path: string, { width = 1 }: { width?: 1 | 2 } = {}): Promise<SeenFile> {
  const hash = createHash('sha256')
  let size = 0
  let records = 0
  let quoted = false
  let open = false
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    for (let p = (width - (size % width)) % width; p < chunk.length; p += width) {
      const byte = chunk[p]!
      if (width === 2 && chunk[p + 1] !== 0) open = true
      else if (byte === QUOTE) quoted = !quoted
      else if (byte === NEWLINE && !quoted) {
        records++
        open = false
      } else open = true
    }
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex'), records: records + (open ? 1 : 0) }
}

/** Lines of a file of JSON lines. Undefined: it cannot be decompressed. */
export async function countLines(path: string, compress: Compression | null): Promise<number | undefined> {
  let lines = 0
  const count = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks)
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++
  }
  const source = createReadStream(path, { highWaterMark: 1 << 20 })
  try {
    if (compress === null) await count(source)
    else await pipeline(source, compress === 'gzip' ? createGunzip() : createZstdDecompress(), count)
    return lines
  } catch {
    return undefined
  }
}
