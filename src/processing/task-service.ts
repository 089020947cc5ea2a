import {
  AppError,
  background,
  bestEffort,
  type Clock,
  currentTraceparent,
  ERRORS,
  type Log,
  newId,
} from '../kernel/index.ts'
import { type Ledger, settle } from '../ledger/index.ts'
import type { HandOff } from './files/index.ts'
import type { TaskStore } from './stores/index.ts'
import { type TaskDetails, type TaskRecord, TEXT, taskError } from './task.ts'
import { uploadOwner } from './upload-owner.ts'

export interface CreateTask {
  tempFilePath: string
  originalFilename: string
  /** An id that was given out before the task is made; asking twice makes one task. */
  id?: string
  projectId?: string
}

export interface TaskServiceDeps {
  ledger: Pick<Ledger, 'untilDecided'>
  store: TaskStore
  handOff: HandOff
  clock: Clock
  log: Log
}

const SETTLE_MS = 1_000
/** Together less than the time after which a note counts as left by a crash. */
const SETTLE_TRIES = 60

/** Creates tasks and answers with their state, for gRPC and HTTP alike. */
export class TaskService {
  readonly #deps: TaskServiceDeps

  constructor(deps: TaskServiceDeps) {
    this.#deps = deps
  }

  async create(
    { tempFilePath, originalFilename, id = newId(), projectId }: CreateTask,
    signal?: AbortSignal,
  ) {
    requireText('temp_file_path', tempFilePath)
    requireText('original_filename', originalFilename)
    const { store, handOff } = this.#deps
    signal?.throwIfAborted()
    // An upload stays its project's, whatever caller makes the task.
    const owner = projectId ?? (await uploadOwner(tempFilePath)) ?? null
    const file = await handOff.take(id, tempFilePath, originalFilename, signal)
    try {
      // The last moment at which a caller that went away changes anything.
      signal?.throwIfAborted()
      const made = await store.create({
        id,
        projectId: owner,
        fileName: originalFilename,
        size: file.size,
        originalFilePath: file.path,
        trace: currentTraceparent() ?? null,
      })
      if (!made) throw taskError(ERRORS.HANDOFF_FAILED, 'handOffFailed')
    } catch (error) {
      const besides = { isMade: () => store.isMade(id), keep: file.done, undo: file.undo }
      const isOpen = async () => (await settle(this.#deps.ledger, error, besides)) === 'undecided'
      if (await isOpen()) background('settling a hand-off', this.#settleLater(isOpen))
      throw error
    }
    // A note that is left is found and removed later; the caller need not wait for it.
    bestEffort(file.done(), (err) =>
      this.#deps.log.warn({ err, taskId: id }, 'a hand-off note was not removed'),
    )
    return id
  }

  /**
   * The task of this id. `open`: its file is being taken over, and goes back to where it was if that does not go through; the
   * record of a try that fails at its last step is there for a moment, too.
   */
  async settled(id: string): Promise<TaskDetails | 'open' | undefined> {
    const found = await this.find(id)
    if (await this.#deps.handOff.isUnderWay(id)) return 'open'
    // What was there before the last look may have been taken back since.
    return found && this.find(id)
  }

  /** For as long as the note of the hand-off is fresh; a duty takes over from then on, or after a crash. */
  async #settleLater(isOpen: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < SETTLE_TRIES; tries++) {
      await this.#deps.clock.sleep(SETTLE_MS)
      if (!(await isOpen())) return
    }
  }

  async status(id: string): Promise<TaskRecord> {
    requireText('task_id', id)
    const record = await this.#deps.store.get(id)
    if (!record) throw noTask()
    return record
  }

  async find(id: string): Promise<TaskDetails | undefined> {
    return this.#deps.store.details(id)
  }

  async details(id: string): Promise<TaskDetails> {
    const details = await this.find(id)
    if (!details) throw noTask()
    return details
  }

  async cancel(id: string): Promise<void> {
    const answer = await this.#deps.store.cancel(id)
    if (answer === 'unknown') throw noTask()
    if (answer === 'ended') throw new AppError(ERRORS.TASK_FINISHED, `task ${id} has already ended`)
  }
}

function requireText(field: string, value: string): void {
  if (value.trim() === '')
    throw new AppError(ERRORS.REQUEST_INVALID, TEXT.emptyField(field), {
      words: { en: `${field} must not be empty` },
    })
}

/** Also for those whose task it is not. */
export function noTask(): AppError {
  return taskError(ERRORS.TASK_NOT_FOUND, 'notFound')
}
