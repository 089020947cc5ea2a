import { pipeline } from 'node:stream/promises'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { openFile } from '../../kernel/index.ts'

export const COMPRESSIONS = ['gzip', 'zstd'] as const
export type Compression = (typeof COMPRESSIONS)[number]

const LEVELS = { gzip: 6, zstd: 3 }

export const COMPRESSED = {
  gzip: { ending: '.gz', contentType: 'application/gzip' },
  zstd: { ending: '.zst', contentType: 'application/zstd' },
}

/** Writes the bytes to a new file, as one stream of the compression if there is one. zlib works in threads of its own. */
export async function writeCompressed(
  bytes: AsyncIterable<Uint8Array>,
  { path, compress, signal }: { path: string; compress: Compression | null; signal: AbortSignal },
): Promise<void> {
  const out = (await openFile(path, 'w')).createWriteStream()
  if (compress === null) await pipeline(bytes, out, { signal })
  else await pipeline(bytes, compressor(compress), out, { signal })
}

function compressor(compress: Compression) {
  if (compress === 'gzip') return createGzip({ level: LEVELS.gzip })
  return createZstdCompress({
    params: {
      [constants.ZSTD_c_compressionLevel]: LEVELS.zstd,
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  })
}
