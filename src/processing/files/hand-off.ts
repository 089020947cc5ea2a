import { lstatSync, realpathSync, renameSync } from 'node:fs'
import { link, lstat, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  bestEffort,
  ERRORS,
  type FileAccess,
  type FileScanner,
  isAppError,
  isErrno,
  type Log,
  makeFolderSync,
  makeNewFolderSync,
  messageOf,
  removeTree,
} from '../../kernel/index.ts'
import { taskError } from '../task.ts'
import { copyWhole } from './copy-whole.ts'
import { HandOffNotes, type Note } from './hand-off-notes.ts'
import { badPath, extensionOf, resolveTempPath } from './temp-path.ts'

export interface HandOffOptions {
  /** LOCAL_STORAGE_PATH */
  storage: string
  /** TEMP_STORAGE_PATH */
  temp: string
  access: FileAccess
  /** Looks at a file before its task is made; null: nobody does. */
  scanner?: FileScanner | null
}

/** A file that was taken over. Exactly one of `done` and `undo` ends it. */
export interface TakenFile {
  /** `{LOCAL_STORAGE_PATH}/{task_id}/original{ext}` */
  readonly path: string
  readonly size: number
  /** The task exists: the file is its own. */
  done(): Promise<void>
  /** The task could not be made: the file goes back to where it was. */
  undo(): Promise<void>
}

/** A note that nobody touched for this long belongs to a process that is gone. */
const STALE_NOTE_MS = 2 * 60_000
const TOUCH_NOTE_MS = 20_000

/**
 * Moves a temp file into the folder of its task, so that a crash at any moment can be mended: before anything moves, a
 * note says what is under way, and it goes when the task exists. A process that finds an old note asks whether the task exists,
 * and finishes or undoes the move.
 */
export class HandOff {
  readonly storage: string
  readonly temp: string
  /** Gateways and processors of other users share both folders. */
  readonly access: FileAccess
  readonly #log: Log
  readonly #notes: HandOffNotes
  readonly #scanner: FileScanner | null

  constructor(log: Log, { storage, temp, access, scanner = null }: HandOffOptions) {
    this.#log = log
    this.#scanner = scanner
    this.access = access
    for (const folder of [storage, temp]) makeFolderSync(folder, access)
    this.storage = realpathSync(storage)
    this.temp = realpathSync(temp)
    this.#notes = new HandOffNotes(this)
  }

  folderOf(id: string): string {
    return join(this.storage, id)
  }

  async take(
    id: string,
    tempPath: string,
    originalFilename: string,
    signal?: AbortSignal,
  ): Promise<TakenFile> {
    try {
      const from = await resolveTempPath(this.temp, tempPath)
      const path = join(this.folderOf(id), `original${extensionOf(originalFilename)}`)
      const note = await this.#open(id, from)
      try {
        const { size, copied } = await this.#move(note, path, signal)
        // After the move: what is put into the old place from now on is not this file.
        const scanner = this.#scanner
        if (scanner) await this.#touching(note, () => scanner.scan(path, signal))
        return {
          path,
          size,
          done: () => this.#forget(note, copied),
          undo: () => this.#undo(note, path),
        }
      } catch (error) {
        await this.#undo(note, path)
        throw error
      }
    } catch (cause) {
      signal?.throwIfAborted()
      if (isAppError(cause)) throw cause
      this.#log.warn({ err: cause, taskId: id }, 'a temp file could not be taken over')
      throw taskError(ERRORS.HANDOFF_FAILED, 'handOffFailed', { cause })
    }
  }

  /** True while a file is being taken over under this id, or was and nobody has mended it yet. */
  async isUnderWay(id: string): Promise<boolean> {
    return this.#notes.has(id)
  }

  /** The time by the clock that files are stamped with: this process' own may be another host's, and wrong. */
  async now(): Promise<number> {
    return this.#notes.now()
  }

  /** Recovers what a crash left half done. `exists` answers whether there is a task with this id. */
  async recover(
    exists: (id: string) => Promise<boolean>,
    { graceMs = STALE_NOTE_MS, now }: { graceMs?: number; now: number },
  ): Promise<number> {
    let mended = 0
    for await (const note of this.#notes.olderThan(now - graceMs)) {
      if (await exists(note.id)) await this.#forget(note, true)
      else await this.#undo(note)
      mended++
    }
    return mended
  }

  /**
   * Note and folder. Fails, and changes nothing, when there is already a task with this id.
   *
   * This, the rename and the end of the note are done at once, not through the thread pool: they touch names only, never
   * contents, and a trip to the pool costs more than any of them.
   */
  async #open(id: string, from: string): Promise<Note> {
    const note = this.#notes.write(id, from)
    try {
      try {
        makeNewFolderSync(this.folderOf(id), this.access)
      } catch (error) {
        if (!isErrno(error, 'EEXIST') || !(await this.#isLeftOver(note))) throw error
        await removeTree(this.folderOf(id))
        makeNewFolderSync(this.folderOf(id), this.access)
      }
    } catch (error) {
      this.#notes.remove(note)
      throw error
    }
    return note
  }

  /** No task's folder, and none that is just becoming one: a processor made it for a try that was taken back meanwhile. */
  async #isLeftOver(note: Note): Promise<boolean> {
    return !(await this.#notes.hasAnother(note)) && (await this.#originalIn(note.id)) === undefined
  }

  /** Only a regular file stays moved. */
  async #move(note: Note, to: string, signal: AbortSignal | undefined) {
    const copied = !tryRename(note.from, to)
    if (copied) await this.#copy(note, to, signal)
    const stat = lstatSync(to)
    if (!stat.isFile()) throw badPath()
    return { size: stat.size, copied }
  }

  /** Between file systems. The rename before the copy is what makes one of two callers with the same path fail. */
  async #copy(note: Note, to: string, signal: AbortSignal | undefined): Promise<void> {
    const held = heldPath(note)
    await rename(note.from, held)
    await this.#touching(note, async () => {
      if (!(await lstat(held)).isFile()) throw badPath()
      await copyWhole(held, to, { access: this.access, signal })
    })
  }

  /** For work that may take longer than a note counts as alive. */
  async #touching(note: Note, work: () => Promise<void>): Promise<void> {
    // A note that could not be touched is touched again.
    const touching = setInterval(() => {
      bestEffort(this.#notes.touch(note))
    }, TOUCH_NOTE_MS)
    try {
      await work()
    } finally {
      clearInterval(touching)
    }
  }

  /** `copied`: what the copy was made of may still be there. */
  async #forget(note: Note, copied: boolean): Promise<void> {
    if (copied) await rm(heldPath(note), { force: true })
    this.#notes.remove(note)
  }

  /** The note goes last: as long as there is one, whatever a crash left here is undone again. */
  async #undo(note: Note, path?: string): Promise<void> {
    const { id } = note
    try {
      const moved = note.holdsFile ? note.path : (path ?? (await this.#originalIn(id)))
      const held = heldPath(note)
      if (!(await putBack(held, note, this.access)) && moved !== undefined)
        await putBack(moved, note, this.access)
      await rm(held, { force: true })
      await removeTree(this.folderOf(id))
      await rm(note.path, { force: true })
    } catch (error) {
      // The note stays, so that it is tried again; the file is in one of the two places.
      this.#log.error(
        { err: error, taskId: id },
        `a temp file is not back at its place yet: ${messageOf(error)}`,
      )
    }
  }

  async #originalIn(id: string): Promise<string | undefined> {
    const names = await readdir(this.folderOf(id)).catch(() => [])
    const name = names.find((known) => /^original(\.[^.]+)?$/.test(known))
    return name === undefined ? undefined : join(this.folderOf(id), name)
  }
}

/** Answers false when the two are on different file systems. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (isErrno(error, 'EXDEV')) return false
    throw error
  }
}

function heldPath({ from, id }: Note): string {
  return join(dirname(from), `.${id}.handoff`)
}

async function isSameFile(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map((path) => lstat(path).catch(() => undefined)))
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev
}

/**
 * Gives a file its old name again, beside the one it has; the caller removes that one. Answers false when there is nothing to put
 * back. A file that came to the old place meanwhile is not overwritten.
 */
async function putBack(
  moved: string,
  { from, id }: { from: string; id: string },
  access: FileAccess,
): Promise<boolean> {
  const stat = await lstat(moved).catch(() => undefined)
  if (!stat) return false
  for (const target of [from, join(dirname(from), `${id}-${basename(from)}`)]) {
    if (await isSameFile(moved, target)) return true
    try {
      if (stat.isFile()) await link(moved, target)
      else await rename(moved, target)
      return true
    } catch (error) {
      if (isErrno(error, 'EEXIST')) continue
      if (!isErrno(error, 'EXDEV', 'EPERM', 'ENOTSUP')) throw error
      await copyWhole(moved, target, { access })
      return true
    }
  }
  throw new Error(`both ${from} and its substitute are taken`)
}
