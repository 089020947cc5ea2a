import { lstat, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Duty, removeTree } from '../../kernel/index.ts'
import type { UploadRoom } from '../upload-room.ts'
import type { MendDeps } from './mend-hand-offs.ts'

export interface SweepFilesDeps extends MendDeps {
  /** What swept uploads have reserved is given back. */
  room?: UploadRoom
}

export interface SweepFilesOptions {
  /** How long a temp file waits for somebody to claim it. */
  tempTtlMs: number
  /** How long a folder without a record is left alone. */
  orphanMs?: number
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Clears this instance's disk: hand-offs that a crash broke off, temp files that nobody claimed, folders of tasks that no
 * longer exist. Only folders that are called like a task are ever removed.
 */
export class SweepFilesDuty implements Duty {
  readonly name = 'sweep-files'
  readonly #deps: SweepFilesDeps
  readonly #options: SweepFilesOptions

  constructor(deps: SweepFilesDeps, options: SweepFilesOptions) {
    this.#deps = deps
    this.#options = options
  }

  async runOnce(signal: AbortSignal): Promise<{ mended: number; temp: number; folders: number }> {
    const { handOff, now = () => handOff.now(), log, room } = this.#deps
    const at = await now()
    const mended = await handOff.recover((id) => this.#exists(id), { now: at })
    const temp = await this.#sweepTemp(handOff.temp, at, signal)
    const folders = await this.#sweepFolders(at, signal)
    await room?.releaseOlderThan(2 * this.#options.tempTtlMs)
    if (mended + temp + folders > 0) log.info({ mended, temp, folders }, 'the disk was swept')
    return { mended, temp, folders }
  }

  async #sweepTemp(folder: string, now: number, signal: AbortSignal): Promise<number> {
    let swept = 0
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (signal.aborted) break
      const path = join(folder, entry.name)
      if (entry.isDirectory()) swept += await this.#sweepTemp(path, now, signal)
      // Held for a copy that is under way: recovering the hand-off decides about it.
      else if (entry.name.endsWith('.handoff')) continue
      else if (await isBefore(path, now - this.#options.tempTtlMs)) {
        await unlink(path).catch(() => undefined)
        if (UUID.test(entry.name)) await this.#deps.room?.release(entry.name)
        swept++
      }
    }
    return swept
  }

  async #sweepFolders(now: number, signal: AbortSignal): Promise<number> {
    const { handOff } = this.#deps
    const { orphanMs = 3_600_000 } = this.#options
    let swept = 0
    for (const entry of await readdir(handOff.storage, { withFileTypes: true })) {
      if (signal.aborted) break
      if (!entry.isDirectory() || !UUID.test(entry.name)) continue
      const path = join(handOff.storage, entry.name)
      if (!(await isBefore(path, now - orphanMs)) || (await handOff.isUnderWay(entry.name))) continue
      if (await this.#exists(entry.name)) continue
      await removeTree(path)
      swept++
    }
    return swept
  }

  async #exists(id: string): Promise<boolean> {
    return (await this.#deps.store.get(id)) !== undefined
  }
}

/** By the later of the two times: moving a file into the temp dir keeps its time of modification. */
async function isBefore(path: string, time: number): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined)
  return stat !== undefined && Math.max(stat.mtimeMs, stat.ctimeMs) < time
}
