import { ERRORS, isAppError } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { CachedFile, FileCache } from '../repository/file-cache.ts'
import type { Repository } from '../repository/repository.ts'
import type { TransferWindow } from './transfer-window.ts'

export interface WindowFilesDeps {
  ledger: Ledger
  repository: Pick<Repository, 'locate'>
  cache: Pick<FileCache, 'get'>
}

type FileOfWindow = Pick<TransferWindow, 'projectId' | 'fullPath' | 'signature' | 'artifactKey'>

/** A window's file on this instance's own disk, fetched there if it is missing. */
export class WindowFiles {
  readonly #deps: WindowFilesDeps

  constructor(deps: WindowFilesDeps) {
    this.#deps = deps
  }

  async get(
    { projectId, fullPath, signature, artifactKey }: FileOfWindow,
    signal: AbortSignal,
  ): Promise<CachedFile> {
    const { repository, cache } = this.#deps
    const locate = async () => artifactKey ?? (await repository.locate(projectId, fullPath, signature))
    const key = await locate()
    return cache.get(signature, key, signal).catch(async (error) => {
      // The same file was put again in this very moment: then it has another place.
      if (!isAppError(error, ERRORS.ARTIFACT_NOT_FOUND)) throw error
      const now = await locate()
      if (now === key) throw error
      return cache.get(signature, now, signal)
    })
  }

  /** For a task of the engine that another instance began. Undefined: no window has it. Asked once a take-over. */
  async ofEngineTask(engineTaskId: string, signal: AbortSignal): Promise<CachedFile | undefined> {
    const row = await this.#deps.ledger.db
      .selectFrom('transfer_windows')
      .select(['project_id', 'full_path', 'signature', 'artifact_key'])
      .where('engine_task_id', '=', engineTaskId)
      .executeTakeFirst()
    if (!row) return undefined
    const { project_id: projectId, full_path: fullPath, signature, artifact_key: artifactKey } = row
    return this.get({ projectId, fullPath, signature, artifactKey }, signal)
  }
}
