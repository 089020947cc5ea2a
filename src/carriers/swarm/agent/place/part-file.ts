import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises'
import { basename } from 'node:path'
import { awaitedLater, isErrno, openPlain, sizeInWords } from '../../../../kernel/index.ts'
import {
  type ArrivingPiece,
  BadPiece,
  type Holding,
  type HoldingWatcher,
  type LivePiece,
} from '../../pieces/index.ts'
import { type Manifest, type Place, RESULT, TargetFailure, toTargetFailure } from '../../wire/index.ts'
import { checkFileName, GuardedDirectory, type Roots } from './guarded-directory.ts'
import { findOwner, type Owner } from './owner.ts'
import { RECENT_PIECES, RecentPieces } from './recent-pieces.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants
const FILE_MODE = 0o644
/** The unit of `blocks`, whatever the file system. */
const BLOCK_BYTES = 512

export interface PartFileOrder {
  task: string
  fileName: string
  place: Place
  manifest: Manifest
}

/**
 * A file on its way: pieces are checked, passed on from memory and appended to a `.part` in the target directory, and the
 * name appears only when all of them are proved and on disk. The `.part` belongs to one task, so a restarted agent that is
 * given the task again finds it, checks what it holds and goes on from there.
 */
export class PartFile implements Holding {
  readonly task: string
  readonly manifest: Manifest
  readonly #directory: GuardedDirectory
  readonly #file: FileHandle
  readonly #owner: Owner | undefined
  readonly #names: { part: string; final: string }
  /** The directory as the order has it. */
  readonly #wanted: string
  readonly #recent: RecentPieces
  readonly #watchers = new Set<HoldingWatcher>()
  #have = 0
  /** Pieces from the start that are checked, on disk or on their way there. */
  #received = 0
  /** The last of the writes that are under way, one after the other. */
  #writing: Promise<void> = Promise.resolve()
  /** By the place in memory that each of them frees. */
  readonly #freeing: Promise<void>[] = []
  /** True when the file already stood under its final name. */
  #finished: boolean
  /** True when every piece was read back since the last write. */
  #proved = false

  private constructor(
    { task, manifest, fileName, place }: PartFileOrder,
    opened: { directory: GuardedDirectory; file: FileHandle; owner: Owner | undefined; finished: boolean },
  ) {
    this.task = task
    this.manifest = manifest
    this.#directory = opened.directory
    this.#file = opened.file
    this.#owner = opened.owner
    this.#finished = opened.finished
    this.#recent = new RecentPieces(manifest)
    this.#names = { part: partName(task), final: fileName }
    this.#wanted = place.directory
  }

  static async open(roots: Roots, order: PartFileOrder): Promise<PartFile> {
    checkFileName(order.fileName)
    const owner = await findOwner(order.place.user)
    const directory = await GuardedDirectory.open(roots, order.place.directory, owner)
    try {
      const part = directory.child(partName(order.task))
      const kept = await reopen(part, directory.path)
      const delivered = kept
        ? undefined
        : await openDelivered(directory.child(order.fileName), order.manifest)
      const file = kept ?? delivered ?? (await open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
      const opened = new PartFile(order, { directory, file, owner, finished: delivered !== undefined })
      if (kept || delivered) await opened.recheck()
      return opened
    } catch (error) {
      await directory.close()
      throw error
    }
  }

  get have(): number {
    return this.#have
  }

  /** The next piece to ask for. */
  get next(): number {
    return this.#received
  }

  get isWhole(): boolean {
    return this.have === this.manifest.pieces
  }

  async read(index: number, into: Buffer): Promise<void> {
    const { bytesRead } = await this.#file.read(into, 0, into.length, index * this.manifest.pieceBytes)
    if (bytesRead !== into.length) throw new Error(`piece ${index} cannot be read`)
  }

  live(index: number): LivePiece | undefined {
    return this.#recent.find(index)
  }

  watch(watcher: HoldingWatcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Room in memory for the next piece, as soon as the disk has taken what was there. */
  async expectNext(): Promise<ArrivingPiece> {
    await this.#freeing[this.next % RECENT_PIECES]
    return this.#recent.expect(this.next)
  }

  /** To be called when more of the expected piece was checked. */
  grown(): void {
    for (const watcher of this.#watchers) watcher.grown()
  }

  /** Writes the piece that was expected and is whole now. Resolves when it is written, and all before it. */
  keep({ index, bytes }: ArrivingPiece): Promise<void> {
    this.#received = index + 1
    this.#writing = awaitedLater(this.#writing.then(() => this.#write(index, bytes)))
    this.#freeing[index % RECENT_PIECES] = this.#writing
    return this.#writing
  }

  /** Resolves when nothing is being written any more; rejects if something could not be. */
  written(): Promise<void> {
    return this.#writing
  }

  /** Takes the next piece, if it is what it should be. */
  async append(piece: Buffer): Promise<void> {
    if (!this.manifest.matches(this.next, piece))
      throw new BadPiece(`piece ${this.next} is not what it should be`)
    await this.#write(this.next, piece)
    this.#received++
  }

  /**
   * Gives the file its owner and mode and lets the name appear; each step is on disk before the next. `recheck` comes
   * first: pieces were proved when they arrived, and the disk or anybody on the host may have changed them since.
   */
  async finish(): Promise<void> {
    if (!this.isWhole || !this.#proved)
      throw new TargetFailure(RESULT.WRITE_FAILED, 'the file is not whole and read back')
    if (this.#owner) await this.#file.chown(this.#owner.uid, this.#owner.gid)
    await this.#file.chmod(FILE_MODE)
    await this.#file.sync()
    if (!this.#finished)
      await rename(this.#directory.child(this.#names.part), this.#directory.child(this.#names.final))
    this.#finished = true
    await this.#directory.sync()
  }

  /** Lets go of the file; one that is not finished stays as a `.part` unless `remove` says otherwise. */
  async close({ remove = false }: { remove?: boolean } = {}): Promise<void> {
    for (const watcher of this.#watchers) watcher.ended()
    await this.#writing.catch(() => undefined)
    await this.#file.close()
    if (remove && !this.#finished) await rm(this.#directory.child(this.#names.part), { force: true })
    await this.#directory.close()
  }

  /** Reads back what is on disk, and cuts off everything from the first wrong piece on. True if nothing is missing. */
  async recheck(): Promise<boolean> {
    if (this.#proved) return true
    const { size } = await this.#file.stat()
    const buffer = Buffer.allocUnsafe(this.manifest.pieceBytes)
    let have = 0
    for (; have < this.manifest.pieces; have++) {
      const length = this.manifest.lengthOf(have)
      if (have * this.manifest.pieceBytes + length > size) break
      const piece = buffer.subarray(0, length)
      await this.read(have, piece)
      if (!this.manifest.matches(have, piece)) break
    }
    if (!this.#finished) await this.#file.truncate(Math.min(size, have * this.manifest.pieceBytes))
    this.#have = have
    this.#received = have
    this.#proved = this.isWhole
    return this.isWhole
  }

  async #write(index: number, piece: Buffer): Promise<void> {
    const offset = index * this.manifest.pieceBytes
    // A disk that gets full takes a part of a piece, and says why it takes no more at the next write.
    for (let done = 0; done < piece.length; ) {
      const write = this.#file.write(piece, done, piece.length - done, offset + done)
      done += (await write.catch((error) => this.#noRoom(error))).bytesWritten
    }
    this.#have = index + 1
    this.#proved = false
  }

  /** Says what the file needs and where, in the words of the order: what the agent calls it is nobody's business. */
  async #noRoom(error: unknown): Promise<never> {
    const { code, message } = toTargetFailure(error)
    if (code !== RESULT.DISK_FULL) throw error
    const needs = `${message}: the file needs ${sizeInWords(this.manifest.size)} in ${this.#wanted}`
    if (!isErrno(error, 'ENOSPC')) throw new TargetFailure(code, needs, error)
    const { bavail, bsize } = await statfs(this.#directory.child('.'))
    const room = bavail * bsize + (await this.#file.stat()).blocks * BLOCK_BYTES
    throw new TargetFailure(code, `${needs}, where there is room for ${sizeInWords(room)}`, error)
  }
}

/** Short whatever the file's own name is, and never the same for two tasks. */
function partName(task: string): string {
  return `.wharf-${createHash('sha256').update(task).digest('hex').slice(0, 24)}.part`
}

/** A `.part` of an earlier life. Anything that is not a plain file of our own is not touched. */
async function reopen(path: string, directory: string): Promise<FileHandle | undefined> {
  const file = await open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK).catch((error) => {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  })
  if (!file) return undefined
  const info = await file.stat()
  if (info.isFile() && info.nlink === 1 && info.uid === process.getuid?.()) return file
  await file.close()
  throw new TargetFailure(RESULT.PATH_REFUSED, `${basename(path)} in ${directory} is in the way and not ours`)
}

/**
 * The very file already under its name: a task whose end was not heard, or the same file sent again. One that has other names
 * too is replaced, as its owner and mode are theirs as well.
 */
async function openDelivered(path: string, manifest: Manifest): Promise<FileHandle | undefined> {
  const file = await openPlain(path).catch(() => undefined)
  if (!file) return undefined
  const { size, nlink } = await file.stat()
  if (size === manifest.size && nlink === 1) {
    const whole = createHash('sha256')
    for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) whole.update(chunk)
    if (whole.digest('hex') === manifest.sha256) return file
  }
  await file.close()
  return undefined
}
