import { createHash } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import type { OpenedArtifact } from './artifact-store.ts'
import { damaged } from './damaged.ts'

/** What a hash needs to know of an opened file. Where nobody keeps a version, each reading is checked. */
export type Checkable = Pick<OpenedArtifact, 'stream' | 'range' | 'size'> &
  Partial<Pick<OpenedArtifact, 'version' | 'untouched'>>

/** Versions of files that this process has read in full: whether they have the hash that was recorded. */
const seen = new Map<string, boolean>()
const MOST_SEEN = 10_000

/**
 * The bytes of a file as they were recorded when it was stored, or an error in place of the last ones, so that no reader takes other bytes
 * for the whole file. Hashing costs more than sending, so it is done only where the store cannot say that nobody has
 * touched the file since, and once per version of it. A part of a file cannot be checked.
 */
export function checkedStream(opened: Checkable, sha256: string): Readable {
  const { stream, untouched = false } = opened
  if (untouched || !isWhole(opened) || seen.get(nameOf(opened, sha256))) return stream
  const check = new HashCheck(sha256, (sound) => remember(nameOf(opened, sha256), sound))
  // Whoever reads the check hears of what goes wrong.
  pipeline(stream, check, () => undefined)
  return check
}

/** Throws if this version of the file was found to have other bytes before. */
export function requireUndamaged(opened: Checkable, sha256: string): void {
  if (seen.get(nameOf(opened, sha256)) === false) throw otherBytes()
}

function isWhole({ range, size }: Checkable): boolean {
  return range === null || (range.start === 0 && range.end === size - 1)
}

function nameOf({ version }: Checkable, sha256: string): string {
  return version === undefined ? '' : `${sha256} ${version}`
}

function remember(name: string, sound: boolean): void {
  if (name === '') return
  if (seen.size >= MOST_SEEN) seen.delete(seen.keys().next().value ?? '')
  seen.set(name, sound)
}

function otherBytes() {
  return damaged('the stored file has other bytes than when it was stored')
}

/** Holds the last piece back until it is known that all are right. */
class HashCheck extends Transform {
  readonly #hash = createHash('sha256')
  readonly #expected: string
  readonly #done: (sound: boolean) => void
  #held: Buffer | undefined

  constructor(expected: string, done: (sound: boolean) => void) {
    super({ highWaterMark: 256 * 1024 })
    this.#expected = expected
    this.#done = done
  }

  override _transform(piece: Buffer, _encoding: string, next: (error: null, piece?: Buffer) => void): void {
    this.#hash.update(piece)
    const ready = this.#held
    this.#held = piece
    next(null, ready)
  }

  override _flush(next: (error: Error | null, piece?: Buffer) => void): void {
    const sound = this.#hash.digest('hex') === this.#expected
    this.#done(sound)
    next(sound ? null : otherBytes(), this.#held)
  }
}
