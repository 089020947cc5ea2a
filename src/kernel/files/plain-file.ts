import { closeSync, constants, fchmodSync, mkdirSync, openSync, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises'
import { isErrno } from '../errno.ts'
import { type FileAccess, PRIVATE } from './files.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
/** What a system says of a link, a pipe, a socket or a folder that is opened as a file, and of nothing at all. */
const NOT_PLAIN = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENXIO', 'EINVAL', 'ENAMETOOLONG']

/**
 * For paths in folders that other programs write to. Opens a plain file and nothing else: a link is not followed, a pipe
 * not waited for. Undefined where there is none. All that is then asked of the file or done to it goes through the
 * handle, because the path may lead elsewhere a moment later.
 */
export async function openPlain(path: string, flags = O_RDONLY): Promise<FileHandle | undefined> {
  const handle = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, PRIVATE.file).catch(unlessNotPlain)
  if (!handle) return undefined
  try {
    if ((await handle.stat()).isFile()) return handle
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  return undefined
}

/** The text of a plain file; undefined where there is none. */
export async function readPlain(path: string): Promise<string | undefined> {
  const handle = await openPlain(path)
  try {
    return await handle?.readFile('utf8')
  } finally {
    await handle?.close()
  }
}

/** What is known of a plain file; undefined where there is none. */
export async function statPlain(path: string): Promise<Stats | undefined> {
  const found = await lstat(path).catch(unlessNotPlain)
  return found?.isFile() ? found : undefined
}

/** Makes a folder, or tightens one that is there. False: something else has its name, and is not touched. */
export async function makePlainFolder(path: string, access: FileAccess = PRIVATE): Promise<boolean> {
  const made = await mkdir(path, { mode: access.folder }).then(
    () => true,
    (error) => {
      if (isErrno(error, 'EEXIST')) return false
      throw error
    },
  )
  const handle = await open(path, FOLDER).catch(unlessNotPlain)
  if (!handle) return false
  try {
    const { mode, uid } = await handle.stat()
    const wanted = made ? access.folder : mode & access.folder
    if (wanted !== (mode & 0o777) && uid === process.getuid?.()) await handle.chmod(wanted)
    return true
  } catch (error) {
    if (isErrno(error, 'EPERM', 'ENOTSUP', 'EROFS')) return true
    throw error
  } finally {
    await handle.close()
  }
}

/** Fails when there is something already. The umask takes nothing away. */
export function makeNewFolderSync(path: string, access: FileAccess): void {
  mkdirSync(path, { mode: access.folder })
  const folder = openSync(path, FOLDER)
  try {
    fchmodSync(folder, access.folder)
  } finally {
    closeSync(folder)
  }
}

function unlessNotPlain(error: unknown): undefined {
  if (!isErrno(error, ...NOT_PLAIN)) throw error
}
