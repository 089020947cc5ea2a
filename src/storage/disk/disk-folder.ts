import { lstat, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, ERRORS, isErrno, makeNewFolder, syncFolder } from '../../kernel/index.ts'

/** Walks down part by part, so that a link planted on the way is refused before anything beyond it is touched. */
export async function enterFolder(
  root: string,
  parts: readonly string[],
  create: boolean,
): Promise<string | null> {
  let folder = root
  for (const part of parts) {
    const parent = folder
    folder = join(parent, part)
    if (create && (await makeFolder(folder))) await syncFolder(parent)
    const found = await lstat(folder).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT') && !create) return null
      throw error
    })
    if (!found) return null
    if (!found.isDirectory())
      throw new AppError(ERRORS.STORAGE_DENIED, `${part} in the file store is no folder`, {
        retryable: false,
      })
  }
  return folder
}

async function makeFolder(path: string): Promise<boolean> {
  try {
    await makeNewFolder(path)
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  }
}

/** Removes empty folders upwards, as far as they are empty. */
export async function pruneFolders(root: string, parts: readonly string[]): Promise<void> {
  for (let depth = parts.length; depth > 0; depth--) {
    try {
      await rmdir(join(root, ...parts.slice(0, depth)))
    } catch {
      return
    }
  }
}
