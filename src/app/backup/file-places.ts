import { createReadStream } from 'node:fs'
import { realpath, rm } from 'node:fs/promises'
import { dirname, join, normalize, sep } from 'node:path'
import type { Readable } from 'node:stream'
import type { Config } from '../../config.ts'
import {
  accessOf,
  ERRORS,
  isAppError,
  makeFolder,
  makePlainFolder,
  openPlain,
  openShared,
  statPlain,
} from '../../kernel/index.ts'
import type { Row } from '../../ledger/index.ts'
import type { ArtifactStore } from '../../storage/index.ts'

/** A file that rows of the ledger refer to: in the store, of an account, or of a processing task. */
export interface FilePlace {
  place: 'store' | 'accounts' | 'processing'
  path: string
}

/** Files that this row says are there. */
export function filesOf(table: string, row: Row): FilePlace[] {
  const inStore = (path: unknown): FilePlace => ({ place: 'store', path: String(path) })
  switch (table) {
    case 'export_files':
      return row.removed_at === null ? [inStore(row.artifact_key)] : []
    case 'export_rows': {
      if (row.removed_at !== null) return []
      const tables = JSON.parse(String(row.tables)) as { kept?: { key: string } }[]
      return tables.flatMap(({ kept }) => (kept ? [inStore(kept.key)] : []))
    }
    case 'repository_files':
      return [inStore(row.artifact_key)]
    case 'account_files':
      return row.done === 1 ? [{ place: 'accounts', path: `${row.handle}/${row.name}` }] : []
    case 'processing_tasks':
      return [row.original_file_path, row.result_path].flatMap((path) => {
        const own = ownPath(row, path)
        return own === undefined ? [] : [{ place: 'processing' as const, path: own }]
      })
    default:
      return []
  }
}

/** A row as it must be on this machine, on which nothing runs yet: nobody works on its jobs, and nobody was woken for them. */
export function rowFor(table: string, row: Row, storage: string): Row {
  if (table === 'jobs' && row.state === 'running') return { ...row, lease_until: 0 }
  if (table === 'jobs' && row.state === 'pending') return { ...row, wake_at: 0, wakes: 0 }
  if (table !== 'processing_tasks') return row
  const moved = (path: unknown) => {
    const own = ownPath(row, path)
    return own === undefined ? String(path) : join(storage, own)
  }
  return {
    ...row,
    original_file_path: moved(row.original_file_path),
    result_path: moved(row.result_path),
  }
}

/** `TASK_ID/NAME` of a file in the folder of its task. */
function ownPath({ id }: Row, path: unknown): string | undefined {
  const at = String(path).lastIndexOf(`/${id}/`)
  return at < 0 ? undefined : String(path).slice(at + 1)
}

export interface FoundFile {
  size: number
  contentType?: string
  fileName?: string | null
  stream: Readable
}

/** Reads and writes files where the settings say that they are. */
export class FilePlaces {
  readonly #config: Config
  readonly #store: ArtifactStore

  /** `store` must give the bytes as they are kept: encrypted files are copied encrypted. */
  constructor(config: Config, store: ArtifactStore) {
    this.#config = config
    this.#store = store
  }

  /** Null if it is not there. */
  async open({ place, path }: FilePlace, signal: AbortSignal): Promise<FoundFile | null> {
    if (place === 'store')
      return this.#store.open(path, { signal }).catch((error: unknown) => {
        if (isAppError(error, ERRORS.ARTIFACT_NOT_FOUND)) return null
        throw error
      })
    const handle = await openPlain(this.#pathOf(place, path))
    return handle ? { size: (await handle.stat()).size, stream: handle.createReadStream({ signal }) } : null
  }

  async sizeOf({ place, path }: FilePlace): Promise<number | null> {
    if (place === 'store') return (await this.#store.stat(path))?.size ?? null
    const found = await statPlain(this.#pathOf(place, path)).catch(() => undefined)
    return found?.size ?? null
  }

  async put(
    { place, path }: FilePlace,
    copy: string,
    { contentType, fileName, signal }: { contentType: string; fileName: string | null; signal: AbortSignal },
  ): Promise<void> {
    if (place === 'store') {
      await this.#store.put(
        path,
        { path: copy },
        { contentType, signal, ...(fileName !== null && { fileName }) },
      )
      return
    }
    const access = place === 'processing' ? accessOf(this.#config.TASK_FILES_MODE) : accessOf(0o700)
    const target = this.#pathOf(place, path)
    await makeFolder(dirname(dirname(target)), access)
    if (!(await makePlainFolder(dirname(target), access)))
      throw new Error(`${dirname(target)} is a link or a file; put a plain folder there`)
    await rm(target, { force: true })
    const handle = await openShared(target, 'wx', access)
    try {
      await handle.writeFile(createReadStream(copy))
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  /** Where processing keeps its files, as its paths begin. */
  async storage(): Promise<string> {
    const { LOCAL_STORAGE_PATH: folder, TASK_FILES_MODE } = this.#config
    await makeFolder(folder, accessOf(TASK_FILES_MODE))
    return realpath(folder)
  }

  #pathOf(place: 'accounts' | 'processing', path: string): string {
    const { filesDir, LOCAL_STORAGE_PATH } = this.#config
    const root = place === 'accounts' ? join(filesDir, 'accounts') : LOCAL_STORAGE_PATH
    const full = join(root, path)
    if (normalize(path) !== path || !full.startsWith(root + sep))
      throw new Error(`${path} is no path below ${root}`)
    return full
  }
}
