import { constants, existsSync, realpathSync, statSync } from 'node:fs'
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { AppError, ERRORS } from '../../../../kernel/index.ts'
import { RESULT, TargetFailure } from '../../wire/index.ts'
import type { Owner } from './owner.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants
const OPEN_FILES = '/proc/self/fd'
const HAS_OPEN_FILES = existsSync(OPEN_FILES)

/** The folders below which an agent may write. */
export class Roots {
  readonly #roots: string[]

  constructor(roots: string[]) {
    this.#roots = roots.map(realRoot)
  }

  /** The root that `path`, as written, is in. */
  containing(path: string): string | undefined {
    return this.#roots.find((root) => isInside(root, path))
  }
}

/** Throws unless all of them are folders. */
export function checkRoots(roots: readonly string[]): void {
  for (const root of roots) realRoot(root)
}

function realRoot(root: string): string {
  const path = resolve(root)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path)
  throw new AppError(ERRORS.CONFIG_INVALID, `--root takes an existing folder, and ${path} is not one`)
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

/**
 * A directory below a root, held open. Links are resolved first and the result must lie below a root; after that each
 * step is taken from the open directory before it and follows no link, so that one put there meanwhile leads nowhere.
 */
export class GuardedDirectory {
  readonly #handle: FileHandle
  readonly #path: string

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle
    this.#path = path
  }

  static async open(roots: Roots, directory: string, owner: Owner | undefined): Promise<GuardedDirectory> {
    if (!isAbsolute(directory) || directory.includes('\0'))
      throw refused(`${JSON.stringify(directory)} is not an absolute path`)
    const wanted = resolve(directory)
    const real = await resolveExisting(wanted)
    const root = roots.containing(real)
    if (root === undefined) throw refused(`${wanted} is outside of this agent's roots`)
    let at = new GuardedDirectory(await openDirectory(root), root)
    for (const step of relative(root, real).split(sep).filter(Boolean)) {
      const next = await at.#step(step, owner).finally(() => at.close())
      at = next
    }
    return at
  }

  /** A path to `name` in exactly this directory, whatever has become of the way that led here. */
  child(name: string): string {
    return HAS_OPEN_FILES ? `${OPEN_FILES}/${this.#handle.fd}/${name}` : join(this.#path, name)
  }

  get path(): string {
    return this.#path
  }

  async sync(): Promise<void> {
    await this.#handle.sync()
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #step(name: string, owner: Owner | undefined): Promise<GuardedDirectory> {
    const path = this.child(name)
    const made = await mkdir(path, { mode: 0o755 }).then(
      () => true,
      (error) => {
        if (error.code === 'EEXIST') return false
        throw error
      },
    )
    const handle = await openDirectory(path)
    if (made && owner) await handle.chown(owner.uid, owner.gid)
    return new GuardedDirectory(handle, join(this.#path, name))
  }
}

function openDirectory(path: string): Promise<FileHandle> {
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

/** The path without links, as far as it exists; what is missing is appended as written. */
async function resolveExisting(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    return join(await resolveExisting(dirname(path)), path.slice(dirname(path).length))
  }
}

function refused(message: string): TargetFailure {
  return new TargetFailure(RESULT.PATH_REFUSED, message)
}

/** A file's name is one step, nothing that leads elsewhere. */
export function checkFileName(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name))
    throw refused(`${JSON.stringify(name)} is no name for a file`)
  return name
}
