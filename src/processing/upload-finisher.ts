import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AppError,
  type Duty,
  ERRORS,
  isAppError,
  type Log,
  outageOf,
  readPlain,
  statPlain,
} from '../kernel/index.ts'
import type { TaskService } from './task-service.ts'
import { OWNER } from './upload-owner.ts'
import type { UploadRoom } from './upload-room.ts'

export interface UploadFinisherDeps {
  service: TaskService
  room: UploadRoom
  log: Log
}

type Metadata = Record<string, string | null>

export function uploadLocked(id: string, cause?: unknown): AppError {
  const message = `another request completes upload ${id} at this moment; ask again`
  return new AppError(ERRORS.UPLOAD_LOCKED, message, { cause, retryAfter: 1 })
}

function willPass(error: unknown): boolean {
  return outageOf(error) !== undefined || isAppError(error, ERRORS.UPLOAD_LOCKED)
}

const NOTE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/

/**
 * Makes tasks of uploads whose bytes are all there. Where that does not go through because a part of the installation is away,
 * it is tried again by itself, after a restart too: the client has nothing left to send.
 */
export class UploadFinisher implements Duty {
  readonly name = 'finish-uploads'
  readonly #deps: UploadFinisherDeps
  readonly #folder: string
  /** Uploads that may have to be finished, and those that a request finishes at this moment. */
  readonly #open = new Set<string>()
  readonly #underWay = new Set<string>()
  #looked = false

  constructor(deps: UploadFinisherDeps, folder: string) {
    this.#deps = deps
    this.#folder = folder
  }

  /** Safe to repeat, also on several instances at once: one task is made. */
  async finish(id: string, metadata: Metadata): Promise<void> {
    this.#underWay.add(id)
    try {
      await this.#finish(id, metadata)
      this.#open.delete(id)
    } catch (error) {
      if (willPass(error)) this.#open.add(id)
      throw error
    } finally {
      this.#underWay.delete(id)
    }
  }

  async #finish(id: string, metadata: Metadata): Promise<void> {
    const { service, room } = this.#deps
    const known = await service.settled(id)
    if (known === 'open') throw uploadLocked(id)
    if (!known) {
      const owner = metadata[OWNER]
      await service
        .create({
          id,
          tempFilePath: join(this.#folder, id),
          originalFilename: metadata.filename?.trim() || metadata.name?.trim() || id,
          ...(owner && { projectId: owner }),
        })
        .catch((error: unknown) => this.#notMade(id, error))
    }
    // Another may have finished it at the same moment.
    await rm(this.#noteOf(id), { force: true })
    await room.release(id)
  }

  async runOnce(signal: AbortSignal): Promise<{ finished: number }> {
    if (!this.#looked) for (const id of await this.#noted()) this.#open.add(id)
    this.#looked = true
    let finished = 0
    for (const id of [...this.#open]) {
      if (signal.aborted) break
      if (this.#underWay.has(id)) continue
      this.#open.delete(id)
      try {
        if (await this.#finishLeft(id)) finished++
      } catch (error) {
        // Those after it are tried first next time.
        if (willPass(error)) this.#open.add(id)
        else this.#deps.log.warn({ err: error, uploadId: id }, 'no task could be made of an upload')
        // The others would meet the same, as a rule.
        if (outageOf(error)) break
      }
    }
    return { finished }
  }

  /** False: it is not whole, or has been finished meanwhile. */
  async #finishLeft(id: string): Promise<boolean> {
    const text = await readPlain(this.#noteOf(id)).catch(() => undefined)
    if (text === undefined) return false
    const { size, metadata } = JSON.parse(text) as { size?: number; metadata?: Metadata }
    const file = await statPlain(join(this.#folder, id)).catch(() => undefined)
    // Without its file it is a task, or becomes one, or gets the file back.
    if (file && file.size !== size) return false
    if (!file && !(await this.#deps.service.settled(id))) return false
    await this.finish(id, metadata ?? {})
    return true
  }

  /** An upload that was refused is not kept. */
  async #notMade(id: string, error: unknown): Promise<void> {
    if (!isAppError(error, ERRORS.FILE_REFUSED)) return this.#unlessCompletedElsewhere(id, error)
    // What cannot be removed now is swept later, like any upload that nobody finishes.
    for (const path of [join(this.#folder, id), this.#noteOf(id)])
      await rm(path, { force: true }).catch(() => undefined)
    await this.#deps.room.release(id)
    throw error
  }

  /** A caller whose last answer was lost asks again, perhaps another instance, while the first request still works. */
  async #unlessCompletedElsewhere(id: string, error: unknown): Promise<void> {
    const known = await this.#deps.service.settled(id)
    if (known && known !== 'open') return
    const stillHere = await statPlain(join(this.#folder, id)).catch(() => undefined)
    throw stillHere && !known ? error : uploadLocked(id, error)
  }

  async #noted(): Promise<string[]> {
    return (await readdir(this.#folder)).flatMap((name) => NOTE.exec(name)?.[1] ?? [])
  }

  #noteOf(id: string): string {
    return join(this.#folder, `${id}.json`)
  }
}
