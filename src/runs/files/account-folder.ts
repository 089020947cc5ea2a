import { lstat, readdir, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  AppError,
  copyFile,
  ERRORS,
  isErrno,
  makeFolder,
  makePlainFolder,
  openPlain,
  statPlain,
  syncFolder,
} from '../../kernel/index.ts'
import { type ByteRange, clampRange, type OpenedArtifact } from '../../storage/index.ts'
import { type PartName, partName, readPartName } from './part-name.ts'

export type OpenedFile = Omit<OpenedArtifact, 'fileName' | 'version' | 'untouched'>

/** The folder of one account. Every name it is given has gone through `safeName`; links are never followed. */
export class AccountFolder {
  readonly path: string

  constructor(root: string, handle: string) {
    this.path = join(root, handle)
  }

  /** Makes the folder. Refuses one that is a link, which could lead anywhere. */
  async make(): Promise<void> {
    await makeFolder(dirname(this.path))
    if (await makePlainFolder(this.path)) return
    const message = `${this.path} is a link or a file; put a plain folder there`
    throw new AppError(ERRORS.ACCOUNT_FOLDER_UNSAFE, message, {
      retryable: false,
    })
  }

  file(name: string): string {
    return join(this.path, name)
  }

  /** What is under a name: the size of a plain file, `other` for anything else, undefined for nothing. */
  async look(name: string): Promise<number | 'other' | undefined> {
    try {
      const found = await lstat(this.file(name))
      return found.isFile() ? found.size : 'other'
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /**
   * A finished file, for reading; undefined where there is none. What it holds came from elsewhere, so it is bytes and
   * nothing that a browser would open. The stream closes the file.
   */
  async read(name: string, wanted?: ByteRange): Promise<OpenedFile | undefined> {
    if (!(await isFolder(this.path))) return undefined
    const handle = await openPlain(this.file(name))
    if (!handle) return undefined
    try {
      const stat = await handle.stat()
      const { size, mtimeMs: modifiedAt } = stat
      const range = wanted ? clampRange(wanted, size) : null
      return {
        ...{ size, modifiedAt, range, contentType: 'application/octet-stream' },
        etag: `"${stat.ino.toString(36)}-${size.toString(36)}-${Math.round(modifiedAt).toString(36)}"`,
        stream: handle.createReadStream(range ?? {}),
      }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Downloads that somebody left in flight. */
  async parts(): Promise<PartName[]> {
    const names = await readdir(this.path).catch((error) => {
      if (isMissing(error)) return []
      throw error
    })
    return names.map(readPartName).filter((part) => part !== undefined)
  }

  /**
   * Makes somebody's part one's own. On a shared disk its writer may still be at it, so its bytes are copied: a name can
   * be taken away from a stalled process, an open file cannot.
   */
  async takeOver(theirs: PartName, mine: PartName, { alone }: { alone: boolean }): Promise<void> {
    const from = this.file(partName(theirs))
    // What else it is the name of must get none of the bytes.
    if ((await statPlain(from))?.nlink !== 1) return this.remove(partName(theirs))
    if (partName(theirs) === partName(mine)) return
    const to = this.file(partName(mine))
    if (alone) return rename(from, to)
    await this.remove(partName(mine))
    await copyFile(from, to)
    await this.remove(partName(theirs))
  }

  /** Removes a file; a folder that somebody put under that name is theirs. */
  async remove(name: string): Promise<void> {
    await unlink(this.file(name)).catch((error) => {
      if (!isMissing(error) && error.code !== 'EISDIR') throw error
    })
  }

  /** Makes renames durable. */
  async sync(): Promise<void> {
    await syncFolder(this.path)
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch((error) => {
    if (isMissing(error)) return undefined
    throw error
  })
  return found?.isDirectory() ?? false
}

function isMissing(error: unknown): boolean {
  return isErrno(error, 'ENOENT', 'ENOTDIR')
}
