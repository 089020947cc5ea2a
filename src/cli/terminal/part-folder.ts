import { createHash } from 'node:crypto'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  AppError,
  ERRORS,
  makeNewFolder,
  messageOf,
  openFile,
  removeTree,
  writeFile,
} from '../../kernel/index.ts'

/** What the pipeline calls the folder of the first table's pages. */
const SPOOL = 'table-0'

/**
 * Where an export grows until it is whole: `.FILE.wharf-part` beside FILE, hence on the same disk, so that the finished
 * file appears by a rename and never half. It stays when a run is interrupted, and the next run with the same
 * source goes on from there.
 */
export class PartFolder {
  readonly path: string
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
    this.path = join(dirname(file), `.${basename(file)}.wharf-part`)
  }

  /** `sameAs` is what must be equal for pages of an earlier run to be good for this one. */
  static async open(file: string, sameAs: unknown): Promise<PartFolder> {
    const folder = new PartFolder(file)
    return folder.#guarded(async () => {
      await folder.#check()
      await makeNewFolder(folder.path).catch(ignore('EEXIST'))
      await folder.#lock()
      await folder.#clearUnless(createHash('sha256').update(JSON.stringify(sameAs)).digest('hex'))
      return folder
    })
  }

  /** Puts the finished file where it belongs; an older one is replaced. */
  async finish(made: string, target: string): Promise<void> {
    await this.#guarded(async () => {
      // The user's own file: as open to others as any that the user makes.
      const file = await openFile(made)
      await file.chmod(0o666 & ~process.umask()).finally(() => file.close())
      await rename(made, target)
      await removeTree(this.path)
    })
  }

  /** Lets the next run go on from here. Where no page arrived, there is nothing to go on from. */
  async release(): Promise<void> {
    const spool = await stat(join(this.path, SPOOL)).catch(ignore('ENOENT'))
    await removeTree(spool ? this.#lockFile : this.path)
  }

  get #lockFile(): string {
    return join(this.path, 'lock')
  }

  async #check(): Promise<void> {
    const parent = dirname(this.#file)
    if (!(await stat(parent).catch(ignore('ENOENT')))) throw unusable(`there is no folder ${parent}`)
    const found = await stat(this.#file).catch(ignore('ENOENT'))
    if (found?.isDirectory()) throw unusable(`${this.#file} is a folder`)
  }

  /** Two runs in one folder would garble each other's pages. A run that was killed leaves its lock, but no process. */
  async #lock(): Promise<void> {
    for (;;) {
      const lock = await openFile(this.#lockFile, 'wx').catch(ignore('EEXIST'))
      if (lock) {
        await lock.writeFile(String(process.pid))
        await lock.close()
        return
      }
      const owner = Number(await readFile(this.#lockFile, 'utf8'))
      if (owner > 0 && isRunning(owner))
        throw unusable(`process ${owner} is writing ${this.#file} already; if it is not, delete ${this.path}`)
      await rm(this.#lockFile, { force: true })
    }
  }

  async #clearUnless(fingerprint: string): Promise<void> {
    const note = join(this.path, 'source')
    if ((await readFile(note, 'utf8').catch(ignore('ENOENT'))) === fingerprint) return
    await removeTree(join(this.path, SPOOL))
    await writeFile(note, fingerprint)
  }

  async #guarded<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (error) {
      throw fileError(error, this.#file)
    }
  }
}

/** What a disk says, as one line that names the file. */
export function fileError(error: unknown, file: string): unknown {
  const isDisk = error instanceof Error && 'syscall' in error && 'path' in error
  return isDisk ? unusable(`cannot write ${file}: ${messageOf(error)}`, error) : error
}

function unusable(message: string, cause?: unknown): AppError {
  return new AppError(ERRORS.OUTPUT_UNUSABLE, message, { cause })
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return pid !== process.pid
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function ignore(code: string): (error: unknown) => undefined {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === code) return undefined
    throw error
  }
}
