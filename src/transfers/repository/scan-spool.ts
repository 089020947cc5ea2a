import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Clock,
  type Duty,
  type FileScanner,
  makeFolder,
  openFile,
  toDiskError,
} from '../../kernel/index.ts'

/** A file that is written or scanned is touched more often than this. */
const LEFT_MS = 3 * 3_600_000

/** Where bytes wait for the scan before the file store sees them. A private folder of this instance. */
export class ScanSpool implements Duty {
  readonly name = 'scan-spool'
  readonly #deps: { scanner: FileScanner; clock: Clock }
  readonly #folder: string

  constructor(deps: { scanner: FileScanner; clock: Clock }, { folder }: { folder: string }) {
    this.#deps = deps
    this.#folder = folder
  }

  /** Hands the file on when it was let in. It is gone afterwards, whatever happens. */
  async pass<T>(
    bytes: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    use: (file: { path: string }) => Promise<T>,
  ): Promise<T> {
    const path = join(this.#folder, randomUUID())
    try {
      await this.#write(path, bytes)
      await this.#deps.scanner.scan(path, signal)
      return await use({ path })
    } finally {
      await rm(path, { force: true })
    }
  }

  /** Removes what a crash has left. */
  async runOnce(): Promise<{ removed: number }> {
    const before = this.#deps.clock.now() - LEFT_MS
    let removed = 0
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name)
      const found = await stat(path).catch(() => undefined)
      if (!found || found.mtimeMs > before) continue
      await rm(path, { force: true })
      removed++
    }
    return { removed }
  }

  async #write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await makeFolder(this.#folder)
      const handle = await openFile(path, 'wx')
      try {
        for await (const chunk of bytes) await handle.writeFile(chunk)
      } finally {
        await handle.close()
      }
    } catch (error) {
      throw toDiskError(error, 'keep a file for its scan')
    }
  }
}
