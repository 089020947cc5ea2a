import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { clearAway, isErrno, openFile as openPrivate } from '../../kernel/index.ts'
import type { ArtifactSource, PutOptions } from '../artifact-store.ts'
import { Hashed } from '../hashed.ts'
import { stampOf } from './artifact-card.ts'
import { blobName, temporaryName } from './disk-layout.ts'

/** Opens a file for writing; a collaborator, so that a full disk can be had without one. */
export type OpenFile = (path: string, flags: number) => Promise<FileHandle>

export const openFile: OpenFile = openPrivate

const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY

/** An empty file that takes a place in a folder, so that the folder stays. */
export interface Reserved {
  folder: string
  leaf: string
  id: string
  path: string
  handle: FileHandle
}

export async function reserve(openFile: OpenFile, folder: string, leaf: string): Promise<Reserved> {
  const id = randomBytes(8).toString('hex')
  const path = join(folder, temporaryName(leaf, id))
  return { folder, leaf, id, path, handle: await openFile(path, NEW_FILE) }
}

export interface WrittenBlob {
  /** Its file name. */
  blob: string
  size: number
  sha256: string
  stamp: string
}

/** Brings the bytes into the folder under a name that nobody knows yet, safe on disk; leaves nothing if it fails. */
export async function writeBlob(
  reserved: Reserved,
  source: ArtifactSource,
  { signal, move = false }: PutOptions,
): Promise<WrittenBlob> {
  const blob = blobName(reserved.leaf, reserved.id)
  const target = join(reserved.folder, blob)
  const takeOver = move && 'path' in source
  const hashed = new Hashed(source, signal)
  const written = async (bytes: Hashed) => {
    const stamp = stampOf(await stat(target, { bigint: true }))
    return { blob, size: bytes.size, sha256: bytes.sha256(), stamp }
  }
  try {
    if (takeOver && (await moveFile(source.path, target, hashed))) return await written(hashed)
    const copied = takeOver ? new Hashed(source, signal) : hashed
    await fill(reserved.handle, copied)
    await rename(reserved.path, target)
    if (takeOver) await rm(source.path, { force: true })
    return await written(copied)
  } finally {
    await reserved.handle.close()
    await clearAway(reserved.path)
  }
}

/** Writes a small file that is safe on disk when this resolves. */
export async function writeSmall(reserved: Reserved, content: string, target: string): Promise<void> {
  try {
    await fill(reserved.handle, [Buffer.from(content)])
    await rename(reserved.path, target)
  } finally {
    await reserved.handle.close()
    await clearAway(reserved.path)
  }
}

async function fill(handle: FileHandle, bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
  for await (const chunk of bytes)
    for (let done = 0; done < chunk.length; ) done += (await handle.write(chunk, done)).bytesWritten
  await handle.sync()
}

/** Takes the file over by a rename; false where that is another file system. */
async function moveFile(from: string, to: string, hashed: Hashed): Promise<boolean> {
  for await (const _ of hashed);
  const handle = await openPrivate(from, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (isErrno(error, 'EXDEV')) return false
    throw error
  }
}
