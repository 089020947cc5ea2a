import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import type { Place } from '../engines/swarm/wire/control-message.ts'
import { Growth, type Holding } from '../engines/swarm/wire/holding.ts'
import type { Manifest } from '../engines/swarm/wire/manifest.ts'
import { RESULT, TargetFailure } from '../engines/swarm/wire/result-code.ts'
import { checkFileName, GuardedDirectory, type Roots } from './guarded-directory.ts'
import { findOwner, type Owner } from './owner.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR, O_RDONLY } = constants
const FILE_MODE = 0o644

/** What a peer sent is not what the manifest says. */
export class BadPiece extends Error {
  override readonly name = 'BadPiece'
}

export interface PartFileOrder {
  task: string
  fileName: string
  place: Place
  manifest: Manifest
}

/**
 * A file on its way: pieces are appended to a `.part` in the target directory, checked before they count, and the name
 * appears only when all of them are proved and on disk. The `.part` belongs to one task, so a restarted agent that is
 * given the task again finds it, checks what it holds and goes on from there.
 */
export class PartFile implements Holding {
  readonly task: string
  readonly manifest: Manifest
  readonly #directory: GuardedDirectory
  readonly #file: FileHandle
  readonly #owner: Owner | undefined
  readonly #names: { part: string; final: string }
  readonly #growth = new Growth()
  /** True when the file already stood under its final name. */
  #finished: boolean

  private constructor(
    { task, manifest, fileName }: PartFileOrder,
    opened: { directory: GuardedDirectory; file: FileHandle; owner: Owner | undefined; finished: boolean },
  ) {
    this.task = task
    this.manifest = manifest
    this.#directory = opened.directory
    this.#file = opened.file
    this.#owner = opened.owner
    this.#finished = opened.finished
    this.#names = { part: partName(task), final: fileName }
  }

  static async open(roots: Roots, order: PartFileOrder): Promise<PartFile> {
    checkFileName(order.fileName)
    const owner = await findOwner(order.place.user)
    const directory = await GuardedDirectory.open(roots, order.place.directory, owner)
    try {
      const part = directory.child(partName(order.task))
      const kept = await reopen(part)
      const delivered = kept
        ? undefined
        : await openDelivered(directory.child(order.fileName), order.manifest)
      const file = kept ?? delivered ?? (await open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
      const opened = new PartFile(order, { directory, file, owner, finished: delivered !== undefined })
      if (kept || delivered) await opened.#recheck()
      return opened
    } catch (error) {
      await directory.close()
      throw error
    }
  }

  get have(): number {
    return this.#growth.count
  }

  get isWhole(): boolean {
    return this.have === this.manifest.pieces
  }

  async read(index: number, into: Buffer): Promise<void> {
    const { bytesRead } = await this.#file.read(into, 0, into.length, index * this.manifest.pieceBytes)
    if (bytesRead !== into.length) throw new Error(`piece ${index} cannot be read`)
  }

  beyond(count: number, signal: AbortSignal): Promise<void> {
    return this.#growth.beyond(count, signal)
  }

  /** Takes the next piece, if it is what it should be. Others see it only after it was written. */
  async append(piece: Buffer): Promise<void> {
    if (!this.manifest.matches(this.have, piece))
      throw new BadPiece(`piece ${this.have} is not what it should be`)
    const offset = this.have * this.manifest.pieceBytes
    const { bytesWritten } = await this.#file.write(piece, 0, piece.length, offset)
    if (bytesWritten !== piece.length) throw new TargetFailure(RESULT.DISK_FULL, 'the disk took half a piece')
    this.#growth.grow(this.have + 1)
  }

  /**
   * Gives the file its owner and mode and lets the name appear; each step is on disk before the next. Every piece was
   * proved by the signed manifest, which the server made in one reading with the hash of the whole: hashing that again
   * would only prove the same bytes a second time.
   */
  async finish(): Promise<void> {
    if (!this.isWhole) throw new TargetFailure(RESULT.WRITE_FAILED, 'the file is not whole')
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
    this.#growth.end(new Error('this file is no longer served'))
    await this.#file.close()
    if (remove && !this.#finished) await rm(this.#directory.child(this.#names.part), { force: true })
    await this.#directory.close()
  }

  /** Counts the pieces from the start that are what they should be, and cuts off the rest. */
  async #recheck(): Promise<void> {
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
    this.#growth.grow(have)
  }
}

/** Short whatever the file's own name is, and never the same for two tasks. */
function partName(task: string): string {
  return `.wharf-${createHash('sha256').update(task).digest('hex').slice(0, 24)}.part`
}

/** A `.part` of an earlier life. Anything that is not a plain file of our own is not touched. */
async function reopen(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, O_RDWR | O_NOFOLLOW).catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  const info = await file.stat()
  if (info.isFile() && info.nlink === 1 && info.uid === process.getuid?.()) return file
  await file.close()
  throw new TargetFailure(RESULT.PATH_REFUSED, `${path} is in the way and not ours`)
}

/** The very file already under its name: a task whose end was not heard, or the same file sent again. */
async function openDelivered(path: string, manifest: Manifest): Promise<FileHandle | undefined> {
  const info = await stat(path).catch(() => undefined)
  if (!info?.isFile() || info.size !== manifest.size) return undefined
  const file = await open(path, O_RDONLY | O_NOFOLLOW).catch(() => undefined)
  if (!file) return undefined
  const whole = createHash('sha256')
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) whole.update(chunk)
  if (whole.digest('hex') === manifest.sha256) return file
  await file.close()
  return undefined
}
