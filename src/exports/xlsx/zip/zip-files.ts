import { createReadStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { crc32 } from 'node:zlib'
import { ZIP_LIMIT } from './zip-record.ts'
import { ZipWriter } from './zip-writer.ts'

/** Packs files into one archive as they are: what comes here is compressed already. `target` appears when it is whole. */
export async function zipFiles(
  paths: readonly string[],
  target: string,
  signal: AbortSignal,
  { limit = ZIP_LIMIT } = {},
): Promise<{ bytes: number }> {
  const temporary = `${target}.tmp`
  const zip = await ZipWriter.create(temporary, { limit })
  try {
    for (const path of paths) await addFile(zip, path, signal)
    await zip.finish()
    signal.throwIfAborted()
    await rename(temporary, target)
  } catch (error) {
    await zip.close()
    await rm(temporary, { force: true })
    throw signal.aborted ? signal.reason : error
  }
  return { bytes: zip.bytes }
}

async function addFile(zip: ZipWriter, path: string, signal: AbortSignal): Promise<void> {
  let crc = 0
  let size = 0
  await zip.begin(basename(path), 0, (await stat(path)).size)
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    crc = crc32(chunk, crc)
    size += chunk.length
    await zip.append([chunk])
  }
  await zip.end(crc, size)
}
