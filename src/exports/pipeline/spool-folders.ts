import { existsSync } from 'node:fs'
import { readdir, readFile, rename } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { clearAway, makeFolder, writeFile } from '../../kernel/index.ts'

/**
 * One folder for each claim of a job: `ROOT/JOB/FENCE`. Fencing does not guard files, so a successor never writes into
 * the folder of a claim that may still be alive. It takes the latest folder over by renaming it, but only if the one that
 * made it is known to have ended: another process that is gone, or this one after its handler returned.
 */
export class SpoolFolders {
  readonly #root: string
  readonly #open = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  /** Calls `work` with the folder for this claim; an earlier claim's spool is in it where that is safe. */
  async use<T>(jobId: string, fence: number, work: (directory: string) => Promise<T>): Promise<T> {
    const directory = await this.#prepare(jobId, fence)
    this.#open.add(directory)
    try {
      return await work(directory)
    } finally {
      this.#open.delete(directory)
    }
  }

  /** Never rejects, because a job that has ended has ended: what stays behind is swept later. */
  async remove(jobId: string): Promise<void> {
    await clearAway(join(this.#root, jobId))
  }

  /** Jobs that have left a folder here. */
  async jobs(): Promise<string[]> {
    return existsSync(this.#root) ? readdir(this.#root) : []
  }

  async #prepare(jobId: string, fence: number): Promise<string> {
    const parent = join(this.#root, jobId)
    const directory = join(parent, String(fence))
    await makeFolder(this.#root)
    await makeFolder(parent)
    const earlier = (await readdir(parent))
      .filter((name) => /^\d+$/.test(name))
      .sort((a, b) => Number(b) - Number(a))
    const [latest] = earlier
    if (latest !== undefined && (await this.#isAbandoned(join(parent, latest)))) {
      await rename(join(parent, latest), directory)
    }
    await makeFolder(directory)
    await this.#own(directory)
    return directory
  }

  /** Replaced as a whole: where a full disk takes no other, the last owner's name stays, and the spool can be taken over. */
  async #own(directory: string): Promise<void> {
    const file = join(directory, 'owner')
    const text = JSON.stringify({ host: hostname(), pid: process.pid })
    if ((await readFile(file, 'utf8').catch(() => '')) === text) return
    try {
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    } catch (error) {
      await clearAway(`${file}.new`)
      // Without an owner it is unknown whether it is still in use. One that holds a spool stays.
      if (!existsSync(file)) await clearAway(directory)
      throw error
    }
  }

  async #isAbandoned(directory: string): Promise<boolean> {
    try {
      const owner = JSON.parse(await readFile(join(directory, 'owner'), 'utf8')) as {
        host: string
        pid: number
      }
      if (owner.pid === process.pid && owner.host === hostname()) return !this.#open.has(directory)
      return owner.host === hostname() && !isAlive(owner.pid)
    } catch {
      return false
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}
