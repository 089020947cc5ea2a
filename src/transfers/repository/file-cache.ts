import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AppError,
  bestEffort,
  type Clock,
  counted,
  type Duty,
  ERRORS,
  makeFolder,
  openFile,
  orAborted,
  removeTree,
} from '../../kernel/index.ts'
import type { ArtifactStore } from '../../storage/index.ts'

export interface CachedFile {
  path: string
  size: number
}

interface Fetch {
  file: Promise<CachedFile>
  abort: AbortController
  waiters: number
}

const TEMPORARY = '.part'
const READ_BYTES = 1024 * 1024
const SIGNATURE = /^[0-9a-f]{64}$/

/**
 * Files on this instance's own disk, named by their signature. Each is fetched once however many ask; it lands under a
 * temporary name and counts only when its bytes are the signature's and on disk, so a broken fetch leaves nothing. One
 * that was damaged since is fetched again.
 */
export class FileCache implements Duty {
  readonly name = 'transfer-cache'
  readonly #deps: { store: Pick<ArtifactStore, 'open'>; clock: Clock }
  readonly #directory: string
  readonly #keepMs: number
  readonly #fetching = new Map<string, Fetch>()
  /** Files that were proved, with what changes when anybody touches them. */
  readonly #sound = new Map<string, string>()

  constructor(
    deps: { store: Pick<ArtifactStore, 'open'>; clock: Clock },
    { directory, keepMs }: { directory: string; keepMs: number },
  ) {
    this.#deps = deps
    this.#directory = directory
    this.#keepMs = keepMs
  }

  async get(signature: string, artifactKey: string, signal: AbortSignal): Promise<CachedFile> {
    signal.throwIfAborted()
    const fetch = this.#fetching.get(signature) ?? this.#begin(signature, artifactKey)
    fetch.waiters++
    try {
      return await orAborted(fetch.file, signal)
    } finally {
      fetch.waiters--
      // Not with the first who gives up: the others need the file all the same. With the last one it is over.
      if (fetch.waiters === 0) fetch.abort.abort()
    }
  }

  /** Removes what nobody used for long, and what a crash left half-fetched. */
  async runOnce(signal: AbortSignal): Promise<{ removed: number }> {
    const before = this.#deps.clock.now() - this.#keepMs
    let removed = 0
    for (const name of await readdir(this.#directory).catch(() => [] as string[])) {
      if (signal.aborted) break
      if (this.#fetching.has(name.slice(0, 64))) continue
      const path = join(this.#directory, name)
      const found = await stat(path).catch(() => undefined)
      if (!found?.isFile() || found.mtimeMs > before) continue
      await rm(path, { force: true })
      this.#sound.delete(name)
      removed++
    }
    return { removed }
  }

  #begin(signature: string, artifactKey: string): Fetch {
    const abort = new AbortController()
    const file = orAborted(this.#find(signature, artifactKey, abort.signal), abort.signal)
    const fetch = { file, abort, waiters: 0 }
    this.#fetching.set(signature, fetch)
    bestEffort(file.finally(() => this.#fetching.delete(signature)))
    return fetch
  }

  async #find(signature: string, artifactKey: string, signal: AbortSignal): Promise<CachedFile> {
    if (!SIGNATURE.test(signature)) throw new Error('a signature is 64 hexadecimal digits')
    const path = join(this.#directory, signature)
    if (!(await this.#isSound(signature, path, signal))) {
      await removeTree(path)
      await this.#fetch(signature, artifactKey, path, signal)
    }
    const at = new Date(this.#deps.clock.now())
    await utimes(path, at, at)
    const { size, ctimeNs, ino } = await stat(path, { bigint: true })
    this.#sound.set(signature, `${ino} ${size} ${ctimeNs}`)
    return { path, size: Number(size) }
  }

  /** Read in full, unless this process has done so and the file was not touched since. */
  async #isSound(signature: string, path: string, signal: AbortSignal): Promise<boolean> {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (!found?.isFile()) return false
    if (this.#sound.get(signature) === `${found.ino} ${found.size} ${found.ctimeNs}`) return true
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES, signal }))
      hash.update(chunk)
    return hash.digest('hex') === signature
  }

  async #fetch(signature: string, artifactKey: string, path: string, signal: AbortSignal): Promise<void> {
    await makeFolder(this.#directory)
    signal.throwIfAborted()
    const temporary = `${path}-${randomUUID()}${TEMPORARY}`
    try {
      const sha256 = await this.#write(temporary, artifactKey, signal)
      signal.throwIfAborted()
      if (sha256 !== signature) {
        const message = `the stored file has the signature ${sha256}, not ${signature}`
        throw new AppError(ERRORS.TRANSFER_SIGNATURE_MISMATCH, message, { retryable: false })
      }
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  async #write(temporary: string, artifactKey: string, signal: AbortSignal): Promise<string> {
    const { stream, size: promised } = await this.#deps.store.open(artifactKey, { signal })
    // It may fail before it is read; a later reader gets the error.
    stream.on('error', () => undefined)
    const stop = () => stream.destroy(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const hash = createHash('sha256')
    let size = 0
    const file = await openFile(temporary, 'wx')
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        hash.update(chunk)
        size += chunk.length
        await file.writeFile(chunk)
      }
      await file.sync()
    } finally {
      signal.removeEventListener('abort', stop)
      stream.destroy()
      await file.close()
    }
    // Cut short on the way, which another try may cure; wrong bytes of the right length are another matter.
    if (size !== promised)
      throw new AppError(
        ERRORS.STORAGE_UNAVAILABLE,
        `the file broke off after ${size} of ${counted(promised, 'byte')}`,
      )
    return hash.digest('hex')
  }
}
