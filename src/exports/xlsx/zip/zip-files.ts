import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { crc32 } from 'node:zlib'
import { clearAway } from '../../../kernel/index.ts'
import { ZIP_LIMIT } from './zip-record.ts'
import { ZipWriter } from './zip-writer.ts'

export interface ZippedFile {
  name: string
  size: number
  sha256: string
}

export interface ZipOptions {
  /** Sizes and offsets from here on are written as zip64. */
  limit?: number
  /** One more file, made of what is known of the others when they are in. */
  last?(files: readonly ZippedFile[]): { name: string; text: string }
}

/** Packs files into one archive as they are: what comes here is compressed already. `target` appears when it is whole. */
export async function zipFiles(
  paths: readonly string[],
  target: string,
  signal: AbortSignal,
  { limit = ZIP_LIMIT, last }: ZipOptions = {},
): Promise<{ bytes: number; files: ZippedFile[] }> {
  const temporary = `${target}.tmp`
  const zip = await ZipWriter.create(temporary, { limit })
  const files: ZippedFile[] = []
  try {
    for (const path of paths) files.push(await addFile(zip, path, signal))
    if (last) await addText(zip, last(files))
    await zip.finish()
    signal.throwIfAborted()
    await rename(temporary, target)
  } catch (error) {
    await zip.close()
    await clearAway(temporary)
    throw signal.aborted ? signal.reason : error
  }
  return { bytes: zip.bytes, files }
}

async function addFile(zip: ZipWriter, path: string, signal: AbortSignal): Promise<ZippedFile> {
  const hash = createHash('sha256')
  const name = basename(path)
  let crc = 0
  let size = 0
  await zip.begin(name, 0, (await stat(path)).size)
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    crc = crc32(chunk, crc)
    hash.update(chunk)
    size += chunk.length
    await zip.append([chunk])
  }
  await zip.end(crc, size)
  return { name, size, sha256: hash.digest('hex') }
}

async function addText(zip: ZipWriter, { name, text }: { name: string; text: string }): Promise<void> {
  const bytes = Buffer.from(text)
  await zip.begin(name, 0, bytes.length)
  await zip.append([bytes])
  await zip.end(crc32(bytes), bytes.length)
}
