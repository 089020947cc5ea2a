import { createReadStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type FileAccess, openFile, openShared } from '../../kernel/index.ts'

/**
 * Copies a file so that its target appears whole or not at all, and is on disk before this resolves. What was written
 * before a failure is removed.
 */
export async function copyWhole(
  from: string,
  to: string,
  { access, signal }: { access: FileAccess; signal?: AbortSignal | undefined },
): Promise<void> {
  const part = `${to}.part`
  try {
    const file = await openShared(part, 'w', access)
    try {
      await file.writeFile(createReadStream(from, { highWaterMark: 1024 * 1024 }), signal ? { signal } : {})
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, to)
    await syncFolder(dirname(to))
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined)
    throw error
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await openFile(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
