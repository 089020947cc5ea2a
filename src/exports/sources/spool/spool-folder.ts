import { constants } from 'node:fs'
import { access, type FileHandle, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { isErrno, makeFolder, openFile, removeTree } from '../../../kernel/index.ts'
import type { LogState } from '../duplicates/print-log.ts'
import type { SegmentState } from '../rows/index.ts'
import { decodeMeta, encodeMeta, type SpoolMeta } from './spool-meta.ts'
import { writeWhole } from './write-whole.ts'

const META = '.meta'
const OURS = /^(segment-\d+\.(tmp|source)\.csv|(keys|pages)-\d+\.log|\.meta(\.tmp)?)$/
const READ_BYTES = 1024 * 1024

/** A segment by its number, or a range's log of prints. */
export type SpoolFile = number | `keys-${number}` | `pages-${number}`

/**
 * The files of one spool. A segment is `segment-N.tmp.csv` while it grows and `segment-N.source.csv` when whole; `.meta`
 * says how much of each is good. Files are opened for each use: with many row headers there may be hundreds, and a
 * fetch writes them only now and then.
 */
export class SpoolFolder {
  readonly directory: string
  readonly #dirty = new Set<SpoolFile>()

  constructor(directory: string) {
    this.directory = directory
  }

  growing(file: SpoolFile): string {
    return join(this.directory, typeof file === 'number' ? `segment-${file}.tmp.csv` : `${file}.log`)
  }

  whole(segment: number): string {
    return join(this.directory, `segment-${segment}.source.csv`)
  }

  /** Makes the folder, or empties it of what an earlier fetch left. Files that are not ours stay. */
  async clear(): Promise<void> {
    await makeFolder(this.directory)
    this.#dirty.clear()
    const names = (await readdir(this.directory)).filter((name) => OURS.test(name))
    // The meta goes first: without it nothing here counts any more.
    names.sort((a, b) => Number(b.startsWith(META)) - Number(a.startsWith(META)))
    for (const name of names) await rm(join(this.directory, name), { force: true })
  }

  async readMeta(): Promise<SpoolMeta | 'missing' | 'damaged'> {
    try {
      return decodeMeta(await readFile(join(this.directory, META), 'utf8')) ?? 'damaged'
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return 'missing'
      throw error
    }
  }

  async write(name: SpoolFile, bytes: Buffer, offset: number): Promise<void> {
    const flags = constants.O_RDWR | constants.O_CREAT
    await withFile(this.growing(name), flags, (file) => writeWhole(file, bytes, offset))
  }

  /**
   * To be called after bytes were written, in any thread. Not before: a checkpoint that runs meanwhile would sync
   * too early and take it for done.
   */
  wrote(files: readonly SpoolFile[]): void {
    for (const file of files) this.#dirty.add(file)
  }

  /** Puts the meta on disk, after everything that was written before this call. */
  async checkpoint(meta: SpoolMeta): Promise<void> {
    const dirty = [...this.#dirty]
    this.#dirty.clear()
    for (const name of dirty) await withFile(this.growing(name), 'r+', (file) => file.datasync())
    const temporary = join(this.directory, `${META}.tmp`)
    await withFile(temporary, 'w', async (file) => {
      await file.writeFile(encodeMeta(meta))
      await file.sync()
    })
    await rename(temporary, join(this.directory, META))
  }

  /** A segment that is whole gets its final name. Safe to repeat; one that holds nothing has no file before. */
  async finish(segment: number, { bytes }: SegmentState): Promise<void> {
    if (bytes === 0) await withFile(this.growing(segment), 'a', async () => undefined)
    if (await exists(this.growing(segment))) await rename(this.growing(segment), this.whole(segment))
  }

  async has(segment: number): Promise<boolean> {
    return (await exists(this.growing(segment))) || (await exists(this.whole(segment)))
  }

  /** Cuts a segment back to what the meta counts, or to `keep`. False: the file does not hold that. */
  async restore(
    segment: number,
    state: SegmentState,
    { complete, keep = state.bytes }: { complete: boolean; keep?: number },
  ): Promise<boolean> {
    const [growing, whole] = [await exists(this.growing(segment)), await exists(this.whole(segment))]
    if (growing === whole) return !growing && state.bytes === 0
    if (whole && !complete) return false
    return withFile(whole ? this.whole(segment) : this.growing(segment), 'r+', async (file) => {
      if ((await checksum(file, 0, state.bytes)) !== state.crc) return false
      const { size, nlink } = await file.stat()
      if (size === keep) return true
      // A file that has another name as well has been handed over: it is no longer ours to change.
      if (nlink > 1) return false
      await file.truncate(keep)
      return true
    })
  }

  /** Cuts a log back to what the meta counts. False: the file does not hold that. */
  async restoreLog(name: SpoolFile, { bytes, crc }: LogState): Promise<boolean> {
    if (!(await exists(this.growing(name)))) return bytes === 0
    return withFile(this.growing(name), 'r+', async (file) => {
      if ((await checksum(file, 0, bytes)) !== crc) return false
      await file.truncate(bytes)
      return true
    })
  }

  async readLog(name: SpoolFile, { bytes }: LogState): Promise<Buffer> {
    return bytes === 0 ? Buffer.alloc(0) : (await readFile(this.growing(name))).subarray(0, bytes)
  }

  /** True if the bytes of one segment are in the file of another, complete one. */
  async holds(segment: number, at: number, { bytes, crc }: SegmentState): Promise<boolean> {
    if (!(await exists(this.whole(segment)))) return false
    return withFile(this.whole(segment), 'r', async (file) => (await checksum(file, at, bytes)) === crc)
  }
}

async function withFile<T>(
  path: string,
  flags: string | number,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await openFile(path, flags)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

/** Of N bytes from `at` on, or -1 if the file has not as many. */
async function checksum(file: FileHandle, at: number, bytes: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  let crc = 0
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(READ_BYTES, bytes - done), at + done)
    if (bytesRead === 0) return -1
    crc = crc32(buffer.subarray(0, bytesRead), crc)
    done += bytesRead
  }
  return crc
}

/** Removes a spool with its folder, if nothing but the spool is in it. */
export async function removeSpool(directory: string): Promise<void> {
  await new SpoolFolder(directory).clear()
  if ((await readdir(directory)).length === 0) await removeTree(directory)
}
