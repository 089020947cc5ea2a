import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type FileAccess, openPlain, openShared, syncFolder } from '../../kernel/index.ts'

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
  const source = await openPlain(from)
  if (!source) throw new Error(`${from} is not a plain file`)
  try {
    await rm(part, { force: true })
    const file = await openShared(part, 'wx', access)
    try {
      const bytes = source.createReadStream({ highWaterMark: 1024 * 1024, autoClose: false })
      await file.writeFile(bytes, signal ? { signal } : {})
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, to)
    await syncFolder(dirname(to))
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined)
    throw error
  } finally {
    await source.close()
  }
}
