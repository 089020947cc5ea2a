import { constants } from 'node:fs'
import { realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AppError,
  type Clock,
  ERRORS,
  isErrno,
  makeFolder,
  messageOf,
  openFile as openPlain,
  syncFolder,
  systemClock,
  toDiskError,
} from '../../kernel/index.ts'
import { checkKey } from '../artifact-key.ts'
import type {
  ArtifactSource,
  ArtifactStat,
  ArtifactStore,
  ListedArtifact,
  OpenedArtifact,
  OpenOptions,
  PutOptions,
  StoredArtifact,
  StoreHealth,
} from '../artifact-store.ts'
import { clampRange } from '../byte-range.ts'
import { requireSize } from '../damaged.ts'
import { type ArtifactCard, etagOf, readCard, stampOf } from './artifact-card.ts'
import { type OpenFile, openFile, type Reserved, reserve, writeBlob, writeSmall } from './blob-writer.ts'
import { enterFolder, pruneFolders } from './disk-folder.ts'
import { cardName, folderParts, leafOf } from './disk-layout.ts'
import { listCards, sweepFolder } from './disk-walk.ts'

// A pipe in place of a blob must not hold up whoever opens it.
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Artifacts on a local disk or a shared path. `disk-layout.ts` has the layout; a change is made by replacing
 * one small file, after the bytes it names are safe on disk.
 */
export class DiskStore implements ArtifactStore {
  readonly #root: string
  readonly #clock: Clock
  readonly #openFile: OpenFile

  private constructor(root: string, deps: { clock: Clock; openFile: OpenFile }) {
    this.#root = root
    this.#clock = deps.clock
    this.#openFile = deps.openFile
  }

  static async open(
    deps: { clock?: Clock; openFile?: OpenFile },
    { root }: { root: string },
  ): Promise<DiskStore> {
    try {
      await makeFolder(root)
      return new DiskStore(await realpath(root), { clock: systemClock, openFile, ...deps })
    } catch (error) {
      throw toStorageError(error, 'open the file store')
    }
  }

  async put(key: string, source: ArtifactSource, options: PutOptions): Promise<StoredArtifact> {
    checkKey(key)
    return this.#guarded(`store ${key}`, async () => {
      options.signal?.throwIfAborted()
      const place = await this.#reserve(key)
      try {
        const blob = await writeBlob(place, source, options)
        const { contentType, fileName = null } = options
        const card = { ...blob, contentType, fileName, modifiedAt: this.#clock.now() }
        await this.#replaceCard(place, card, options.signal)
        return { size: card.size, sha256: card.sha256, etag: etagOf(card) }
      } catch (error) {
        await pruneFolders(this.#root, folderParts(key))
        throw error
      }
    })
  }

  async open(key: string, { range, signal }: OpenOptions = {}): Promise<OpenedArtifact> {
    checkKey(key)
    return this.#guarded(`open ${key}`, async () => {
      const { card, handle } = await this.#openBlob(key)
      try {
        signal?.throwIfAborted()
        const found = await handle.stat({ bigint: true })
        requireSize(Number(found.size), card.size)
        const version = stampOf(found)
        const cut = range ? clampRange(range, card.size) : null
        const stream = handle.createReadStream({
          ...(cut ?? {}),
          ...(signal ? { signal } : {}),
          highWaterMark: 256 * 1024,
        })
        return { ...statOf(card), stream, range: cut, version, untouched: version === card.stamp }
      } catch (error) {
        await handle.close()
        throw error
      }
    })
  }

  async stat(key: string): Promise<ArtifactStat | null> {
    checkKey(key)
    return this.#guarded(`look up ${key}`, async () => {
      const card = await this.#card(key)
      return card && statOf(card)
    })
  }

  async delete(key: string): Promise<void> {
    checkKey(key)
    await this.#guarded(`delete ${key}`, async () => {
      const parts = folderParts(key)
      const folder = await enterFolder(this.#root, parts, false)
      if (folder === null) return
      const card = await readCard(folder, leafOf(key)).catch(() => null)
      await rm(join(folder, cardName(leafOf(key))), { force: true })
      await syncFolder(folder)
      if (card) await rm(join(folder, card.blob), { force: true })
      await pruneFolders(this.#root, parts)
    })
  }

  async *list(prefix: string): AsyncGenerator<ListedArtifact> {
    try {
      for await (const { key, card } of listCards(this.#root, prefix))
        yield { key, etag: etagOf(card), modifiedAt: card.modifiedAt }
    } catch (error) {
      throw toStorageError(error, 'list the file store')
    }
  }

  /** A folder has no address of its own; downloads go through Wharf. */
  async publicUrl(key: string): Promise<null> {
    checkKey(key)
    return null
  }

  async healthy(): Promise<StoreHealth> {
    try {
      const place = await reserve(this.#openFile, this.#root, 'probe')
      await writeSmall(place, 'probe', place.path)
      return { ok: true }
    } catch (error) {
      return { ok: false, reason: messageOf(toStorageError(error, 'write to the file store')) }
    }
  }

  async sweepStale(olderThanMs: number, signal?: AbortSignal): Promise<number> {
    const before = this.#clock.now() - olderThanMs
    return this.#guarded('sweep the file store', () => sweepFolder(this.#root, before, signal))
  }

  async close(): Promise<void> {}

  /** A delete may prune the folder before there is anything in it; then it is made again. */
  async #reserve(key: string): Promise<Reserved> {
    for (let tries = 1; ; tries++) {
      try {
        const folder = await enterFolder(this.#root, folderParts(key), true)
        return await reserve(this.#openFile, folder ?? this.#root, leafOf(key))
      } catch (error) {
        if (!isErrno(error, 'ENOENT') || tries === 10) throw error
      }
    }
  }

  /** The one step that readers see. Only what the new card does not name is removed, whatever fails. */
  async #replaceCard(
    { folder, leaf }: Reserved,
    card: ArtifactCard,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let replaced: ArtifactCard | null
    try {
      signal?.throwIfAborted()
      replaced = await readCard(folder, leaf).catch(() => null)
      const place = await reserve(this.#openFile, folder, leaf)
      await writeSmall(place, JSON.stringify(card), join(folder, cardName(leaf)))
    } catch (error) {
      await rm(join(folder, card.blob), { force: true })
      throw error
    }
    await syncFolder(folder)
    if (replaced) await rm(join(folder, replaced.blob), { force: true })
  }

  async #card(key: string): Promise<ArtifactCard | null> {
    const folder = await enterFolder(this.#root, folderParts(key), false)
    return folder === null ? null : readCard(folder, leafOf(key))
  }

  /** Between reading the card and opening the blob both may be replaced; then the new card names another blob. */
  async #openBlob(key: string) {
    for (let seen = ''; ; ) {
      const card = await this.#card(key)
      if (!card || card.blob === seen)
        throw new AppError(ERRORS.ARTIFACT_NOT_FOUND, `there is no file ${key}`, { retryable: false })
      seen = card.blob
      const path = join(this.#root, ...folderParts(key), card.blob)
      try {
        return { card, handle: await openPlain(path, READ_ONLY) }
      } catch (error) {
        if (!isErrno(error, 'ENOENT')) throw error
      }
    }
  }

  async #guarded<T>(what: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw toStorageError(error, what)
    }
  }
}

function statOf(card: ArtifactCard): ArtifactStat {
  const { size, contentType, fileName, modifiedAt } = card
  return { size, etag: etagOf(card), contentType, fileName, modifiedAt }
}

/** The error that callers know for whatever the file system threw; others pass as they are. */
function toStorageError(error: unknown, what: string): unknown {
  const known = toDiskError(error, what)
  if (known instanceof AppError || !(known instanceof Error) || !('syscall' in known)) return known
  return new AppError(ERRORS.STORAGE_UNAVAILABLE, `cannot ${what}: ${messageOf(error)}`, { cause: error })
}
