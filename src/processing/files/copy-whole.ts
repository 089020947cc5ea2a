import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Copies a file so that its target appears whole or not at all, and is on disk before this resolves. What was written
 * before a failure is removed.
 */
export async function copyWhole(from: string, to: string, signal?: AbortSignal): Promise<void> {
  const part = `${to}.part`
  try {
    const file = await open(part, 'w', 0o644)
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

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
