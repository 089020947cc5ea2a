import { basename } from 'node:path/posix'
import { sql } from 'kysely'
import {
  AppError,
  type Clock,
  counted,
  type Duty,
  ERRORS,
  isAppError,
  metrics,
  newId,
} from '../../kernel/index.ts'
import { type Ledger, now, readCursor, settle, writeCursor } from '../../ledger/index.ts'
import type { ArtifactOwner, ArtifactStore, FoundArtifact } from '../../storage/index.ts'
import { DiskReservations, type Quotas } from '../../tenancy/index.ts'
import { hashOf } from '../transfer-keys.ts'
import type { RepositoryFile } from '../views/transfer-schemas.ts'
import { repositoryPath } from './repository-path.ts'
import type { ScanSpool } from './scan-spool.ts'

export interface FileListOptions {
  projectId: string
  /** Paths that begin with it. */
  prefix?: string
  limit: number
  cursor?: string
}

export interface RepositoryDeps {
  ledger: Ledger
  store: ArtifactStore
  clock: Clock
  quotas: Quotas
  /** Where files are scanned before they are stored; without it they are not. */
  scans?: ScanSpool | undefined
}

export interface RepositoryOptions {
  maxBytes: number
  /** How long a file can still be delivered after another took its path. */
  keepSupersededMs: number
}

const BATCH = 100
const LEAST_STEP = 1024 * 1024
const MOST_STEP = 64 * 1024 * 1024
const PREFIX = 'repository/'
/** Between the last byte and the row that refers to the file nobody takes longer than this. */
const UNREFERRED_MS = 24 * 3_600_000

/**
 * The files that can be delivered, each project's for itself. A path keeps its older versions for a while: a request
 * names the signature it wants, and may well come from before the change.
 */
export class Repository implements Duty, ArtifactOwner {
  readonly name = 'repository-versions'
  readonly prefix = PREFIX
  readonly #deps: RepositoryDeps
  readonly #options: RepositoryOptions
  readonly #reservations: DiskReservations

  constructor(deps: RepositoryDeps, options: RepositoryOptions) {
    this.#deps = deps
    this.#options = options
    this.#reservations = new DiskReservations(deps)
  }

  async put(
    projectId: string,
    wantedPath: string,
    bytes: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    length: number | null = null,
  ): Promise<RepositoryFile> {
    const path = repositoryPath(wantedPath)
    // A name of its own: until the ledger points to it, nobody sees the file, and no reader loses the one before.
    const artifactKey = `${PREFIX}${projectId}/${newId()}`
    const { quotas } = this.#deps
    const { maxBytes } = this.#options
    if (length !== null && length > maxBytes) throw tooLarge(maxBytes)
    await quotas.require(projectId, 'disk_bytes')
    const reserve = (size: number) => this.#reservations.reserve(artifactKey, projectId, size)
    try {
      if (length !== null) await reserve(length)
      const within = limited(bytes, { most: maxBytes, reserved: length ?? 0, reserve })
      return await this.#take(projectId, path, { artifactKey, bytes: within, signal })
    } catch (error) {
      // Without a ledger it is swept later.
      await this.#reservations.release(artifactKey).catch(() => undefined)
      throw error
    }
  }

  async #take(
    projectId: string,
    path: string,
    {
      artifactKey,
      bytes,
      signal,
    }: { artifactKey: string; bytes: AsyncIterable<Uint8Array>; signal: AbortSignal },
  ): Promise<RepositoryFile> {
    const { scans, store } = this.#deps
    const options = {
      contentType: 'application/octet-stream',
      fileName: basename(path).slice(0, 200),
      signal,
    }
    const { size, sha256 } = scans
      ? await scans.pass(bytes, signal, (file) => store.put(artifactKey, file, { ...options, move: true }))
      : await store.put(artifactKey, bytes, options)
    metrics.bytesRead.inc({ domain: 'transfers' }, size)
    const replaced = await this.#write(projectId, { path, size, signature: sha256 }, artifactKey).catch(
      async (error) => {
        // What is left, and nobody refers to, is swept later.
        await settle(this.#deps.ledger, error, {
          isMade: () => this.#isReferred(artifactKey),
          undo: () => store.delete(artifactKey).catch(() => undefined),
        })
        throw error
      },
    )
    if (replaced !== undefined) await this.#deps.store.delete(replaced)
    return { path, size, signature: sha256 }
  }

  async #isReferred(artifactKey: string): Promise<boolean> {
    const { db } = this.#deps.ledger
    const query = db.selectFrom('repository_files').select('path').where('artifact_key', '=', artifactKey)
    return (await query.executeTakeFirst()) !== undefined
  }

  /** The files that can be asked for now, the last one put first; older versions are left out. */
  async list({ projectId, prefix = '', limit, cursor }: FileListOptions) {
    let query = this.#deps.ledger.db
      .selectFrom('repository_files')
      .select(['path', 'size', 'signature', 'put_at', 'path_hash'])
      .where('project_id', '=', projectId)
      .where(sql<boolean>`superseded_at is null`)
      .orderBy('put_at', 'desc')
      .orderBy('path_hash', 'desc')
      .limit(limit + 1)
    if (prefix !== '') query = query.where(sql<boolean>`substr(path, 1, length(${prefix})) = ${prefix}`)
    if (cursor !== undefined) {
      const { at, id } = readCursor(cursor)
      query = query.where(sql<boolean>`(put_at, path_hash) < (${at}, ${id})`)
    }
    const rows = await query.execute()
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      items: page.map(({ path, size, signature, put_at }) => ({
        path,
        size: Number(size),
        signature,
        put_at: new Date(put_at).toISOString(),
      })),
      next_cursor: rows.length > limit && last ? writeCursor({ at: last.put_at, id: last.path_hash }) : null,
    }
  }

  /** Where the bytes of this version are. */
  async locate(projectId: string, fullPath: string, signature: string): Promise<string> {
    const path = repositoryPath(fullPath)
    const versions = await this.#deps.ledger.db
      .selectFrom('repository_files')
      .select(['signature', 'artifact_key'])
      .where('project_id', '=', projectId)
      .where('path_hash', '=', hashOf(path))
      .execute()
    const found = versions.find((version) => version.signature === signature)
    if (found) return found.artifact_key
    if (versions.length === 0)
      throw new AppError(ERRORS.TRANSFER_SOURCE_MISSING, `there is no file ${path} in the repository`, {
        retryable: false,
      })
    const message = `${path} is in the repository, but not with the signature ${signature}`
    throw new AppError(ERRORS.TRANSFER_SIGNATURE_MISMATCH, message, { retryable: false })
  }

  /** Deletes versions past their time. The bytes go first, under the row's lock: a crash leaves the row to do it again. */
  async runOnce(signal: AbortSignal): Promise<{ removed: number }> {
    await this.#reservations.sweep()
    let removed = 0
    while (!signal.aborted) {
      const due = await this.#superseded()
      for (const { project_id, path_hash, signature } of due) {
        await this.#deps.ledger.transaction(async (tx) => {
          const gone = await tx.db
            .deleteFrom('repository_files')
            .where('project_id', '=', project_id)
            .where('path_hash', '=', path_hash)
            .where('signature', '=', signature)
            .where('superseded_at', 'is not', null)
            .returning(['artifact_key', 'size'])
            .executeTakeFirst()
          if (!gone) return
          await this.#deps.store.delete(gone.artifact_key)
          this.#deps.quotas.add(tx, project_id, { disk: -Number(gone.size) })
        })
        removed++
      }
      if (due.length < BATCH) break
    }
    return { removed }
  }

  /** Puts that were broken off between the store and the ledger. */
  async orphans(found: readonly FoundArtifact[]): Promise<string[]> {
    const { ledger, clock } = this.#deps
    const before = clock.now() - UNREFERRED_MS
    const old = found.flatMap(({ key, modifiedAt }) => {
      const [, projectId] = key.split('/')
      return projectId !== undefined && modifiedAt < before ? [{ key, projectId }] : []
    })
    if (old.length === 0) return []
    const projects = await ledger.db
      .selectFrom('projects')
      .select('id')
      .where('id', 'in', [...new Set(old.map(({ projectId }) => projectId))])
      .execute()
    const known = new Set(projects.map(({ id }) => id))
    const rows = await ledger.db
      .selectFrom('repository_files')
      .select('artifact_key')
      .where(
        'artifact_key',
        'in',
        old.map(({ key }) => key),
      )
      .execute()
    const referred = new Set(rows.map(({ artifact_key }) => artifact_key))
    return old.flatMap(({ key, projectId }) => (known.has(projectId) && !referred.has(key) ? [key] : []))
  }

  async #superseded() {
    const before = (await this.#deps.ledger.now()) - this.#options.keepSupersededMs
    return this.#deps.ledger.db
      .selectFrom('repository_files')
      .select(['project_id', 'path_hash', 'signature'])
      .where('superseded_at', '<=', before)
      .orderBy('superseded_at')
      .limit(BATCH)
      .execute()
  }

  /** Returns the artifact that nobody needs any more, if the same file was there before. */
  #write(
    projectId: string,
    { path, size, signature }: RepositoryFile,
    artifactKey: string,
  ): Promise<string | undefined> {
    return this.#deps.ledger.transaction(async (tx) => {
      const path_hash = hashOf(path)
      let known = tx.db
        .selectFrom('repository_files')
        .select(['signature', 'artifact_key', 'size'])
        .where('project_id', '=', projectId)
        .where('path_hash', '=', path_hash)
        .orderBy('signature')
      if (this.#deps.ledger.dialect === 'postgres') known = known.forUpdate()
      const before = (await known.execute()).find((version) => version.signature === signature)
      await tx.db
        .updateTable('repository_files')
        .set({ superseded_at: now })
        .where('project_id', '=', projectId)
        .where('path_hash', '=', path_hash)
        .where('signature', '<>', signature)
        .where('superseded_at', 'is', null)
        .execute()
      const row = { path, size, artifact_key: artifactKey, put_at: now, superseded_at: null }
      await tx.db
        .insertInto('repository_files')
        .values({ project_id: projectId, path_hash, signature, ...row })
        .onConflict((conflict) => conflict.columns(['project_id', 'path_hash', 'signature']).doUpdateSet(row))
        .execute()
      const reserved = (await this.#reservations.settle(tx, artifactKey))?.size ?? 0
      this.#deps.quotas.add(tx, projectId, { disk: size - Number(before?.size ?? 0) - reserved })
      return before?.artifact_key
    })
  }
}

async function* limited(
  bytes: AsyncIterable<Uint8Array>,
  room: { most: number; reserved: number; reserve(size: number): Promise<void> },
): AsyncGenerator<Uint8Array> {
  let size = 0
  let { reserved } = room
  for await (const chunk of bytes) {
    size += chunk.byteLength
    if (size > room.most) throw tooLarge(room.most)
    if (size > reserved) reserved = await reserveMore(room.reserve, reserved, size)
    yield chunk
  }
}

/** A body of unknown length: room is reserved in steps, and to the byte where there is too little for a step. */
async function reserveMore(
  reserve: (size: number) => Promise<void>,
  reserved: number,
  needed: number,
): Promise<number> {
  const step = Math.max(needed, reserved + Math.min(MOST_STEP, Math.max(LEAST_STEP, reserved)))
  const size = await reserve(step).then(
    () => step,
    (error) => {
      if (!isAppError(error, ERRORS.QUOTA_DISK)) throw error
      return needed
    },
  )
  if (size === needed) await reserve(needed)
  return size
}

function tooLarge(most: number): AppError {
  return new AppError(ERRORS.BODY_TOO_LARGE, `a file may have at most ${counted(most, 'byte')}`)
}
