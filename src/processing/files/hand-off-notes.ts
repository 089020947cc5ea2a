import { linkSync, symlinkSync, unlinkSync } from 'node:fs'
import { lstat, lutimes, readdir, readlink, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isErrno, makeFolderSync } from '../../kernel/index.ts'

/** Says that the file at `from` is being taken over for the task `id`. */
export interface Note {
  readonly id: string
  readonly from: string
  /** Where the note itself is. */
  readonly path: string
  /** The note is another name of the file, so that the file cannot be lost while there is a note. */
  readonly holdsFile: boolean
}

const FOLDER = '.handoff'
const BETWEEN = '~'

/**
 * What is under way, one entry in `.handoff` for each hand-off.
 *
 * A note is a hard link to the temp file, called `{task_id}~{its path in the temp dir}`: it costs a name, and no inode. That
 * matters: ext4 does not give an inode out again for minutes after it was freed, and walks past all of those whenever it
 * makes a file, so notes that are files of their own soon cost more than everything else about a hand-off together. Where
 * no hard link can be (another file system, another owner, a long name), the note is a symbolic link `{task_id}`.
 */
export class HandOffNotes {
  readonly #folder: string
  readonly #temp: string

  constructor({ storage, temp }: { storage: string; temp: string }) {
    this.#folder = join(storage, FOLDER)
    this.#temp = temp
    makeFolderSync(this.#folder)
  }

  write(id: string, from: string): Note {
    const name = `${id}${BETWEEN}${relative(this.#temp, from).replace(/[%/]/g, encodeURIComponent)}`
    const path = join(this.#folder, name)
    try {
      linkSync(from, path)
      return { id, from, path, holdsFile: true }
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'EEXIST')) throw error
    }
    const link = join(this.#folder, id)
    symlinkSync(from, link)
    return { id, from, path: link, holdsFile: false }
  }

  remove({ path }: Note): void {
    unlinkSync(path)
  }

  /** Says that the writer of the note still works on it. */
  async touch({ path }: Note): Promise<void> {
    await lutimes(path, new Date(), new Date())
  }

  /** What a note written now would be stamped with. */
  async now(): Promise<number> {
    await lutimes(this.#folder, new Date(), new Date())
    return (await lstat(this.#folder)).ctimeMs
  }

  async has(id: string): Promise<boolean> {
    return (await this.#notesOf(id)).length > 0
  }

  /** Whether another file is being taken over for the same task. */
  async hasAnother({ id, path }: Note): Promise<boolean> {
    return (await this.#notesOf(id)).some((name) => join(this.#folder, name) !== path)
  }

  async #notesOf(id: string): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => name === id || name.startsWith(id + BETWEEN))
  }

  /** Notes that nobody wrote or touched since `time`. */
  async *olderThan(time: number): AsyncGenerator<Note> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name)
      const stat = await lstat(path).catch(() => undefined)
      // Linking and touching both set the time of the last change; that of the last modification is the file's own.
      if (!stat || stat.ctimeMs > time) continue
      const end = name.indexOf(BETWEEN)
      if (end >= 0) {
        const from = join(this.#temp, decodeURIComponent(name.slice(end + 1)))
        yield { id: name.slice(0, end), from, path, holdsFile: true }
      } else if (stat.isSymbolicLink()) {
        yield { id: name, from: await readlink(path), path, holdsFile: false }
      } else await rm(path, { force: true })
    }
  }
}
