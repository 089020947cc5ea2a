import { lstat, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, ERRORS, isErrno, makeNewFolder, openFile } from '../../kernel/index.ts'

/** Makes a rename or unlink inside the folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await openFile(path)
  try {
    await handle.sync()
  } catch (error) {
    // Windows and some network file systems cannot sync a folder; they order renames by themselves.
    if (!isErrno(error, 'EISDIR', 'EINVAL', 'EPERM', 'ENOTSUP')) throw error
  } finally {
    await handle.close()
  }
}

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
