import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import {
  AppError,
  type Clock,
  counted,
  ERRORS,
  isErrno,
  keepSecret,
  type Log,
  makeFolder,
  readSecret,
  writeFile,
} from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'
import type { Said } from './duties/heartbeat.ts'

interface MembershipDeps {
  ledger: Ledger
  clock: Clock
  log: Log
  instance: string
  version: string
  /** An instance that was not seen for this long is dead. */
  leaseMs: number
}

export interface MembershipOptions {
  dataDir: string
  /** The store outside the data dir that finished files are in, in words that all instances have in common. */
  store: string | null
  /** A folder that all instances see. */
  sharedDir: string | null
  /** It has no way to wake others, and takes the lead from whoever has it: it may only run alone. */
  sole?: boolean
}

interface Other extends Said {
  id: string
  host: string
  pid: number
}

const LOCK_RETRY_MS = 100
const OLD_MARKER_MS = 24 * 3_600_000

/**
 * Lets an instance in beside living ones only if it sees the same files. Each one writes a marker into the shared folder
 * and says in the ledger what is in it; an instance that comes later must find the markers of those that are there.
 *
 * A data dir has an identity of its own: a process that was killed and comes back on the same one is its own predecessor.
 */
export class Membership {
  readonly #deps: MembershipDeps
  readonly #options: MembershipOptions
  #said: Said = { home: null, store: null, marker: null }
  #others: Other[] = []

  constructor(deps: MembershipDeps, options: MembershipOptions) {
    this.#deps = deps
    this.#options = options
  }

  get said(): Said {
    return this.#said
  }

  /** Those that lived when this one joined. */
  get others(): readonly Pick<Other, 'host' | 'pid'>[] {
    return this.#others
  }

  /** Enters this instance into the ledger, or throws `FILES_NOT_SHARED` or `SINGLE_INSTANCE` and leaves no row. */
  async join(): Promise<void> {
    const { dataDir, store, sharedDir } = this.#options
    const home = homeOf(dataDir)
    this.#said = { home, store, marker: sharedDir === null ? null : await this.#writeMarker(sharedDir) }
    try {
      const others = (await this.#enter()).filter((other) => other.home !== home)
      for (const other of others) await this.#check(other)
      this.#others = others
      if (sharedDir !== null) await this.#sweepMarkers(sharedDir)
      else if (others.length > 0)
        this.#deps.log.warn(
          'WHARF_SHARED_DIR is not set: files of runs, uploads and results of processing stay with the instance that has them',
        )
    } catch (error) {
      await this.leave()
      throw error
    }
  }

  async leave(): Promise<void> {
    const { ledger, instance } = this.#deps
    await ledger.db.deleteFrom('instances').where('id', '=', instance).execute()
    if (this.#options.sharedDir !== null) await rm(this.#markerOf(instance), { force: true })
  }

  /** Under a lock: of two that start together, the second one finds the first. */
  async #enter(): Promise<Other[]> {
    const { ledger, clock } = this.#deps
    for (;;) {
      const others = await ledger.transaction(async (tx) => {
        if (!(await tx.tryLock('instances'))) return undefined
        const living = await this.#living(tx)
        await this.#insert(tx)
        return living
      })
      if (others) return others
      await clock.sleep(LOCK_RETRY_MS)
    }
  }

  #living(tx: Tx): Promise<Other[]> {
    return (
      tx.db
        .selectFrom('instances')
        .select(['id', 'host', 'pid', 'home', 'store', 'marker'])
        .where('seen_at', '>', sql<number>`wharf_now() - ${this.#deps.leaseMs}`)
        // An older version says nothing of its files; an upgrade must not stop at it.
        .where('home', 'is not', null)
        .execute()
    )
  }

  async #insert(tx: Tx): Promise<void> {
    const { instance, version } = this.#deps
    const row = { id: instance, host: hostname(), pid: process.pid, version, ...this.#said }
    await tx.db
      .insertInto('instances')
      .values({ ...row, started_at: now, seen_at: now })
      .execute()
  }

  async #check(other: Other): Promise<void> {
    const { store, sharedDir, sole } = this.#options
    const who = `another Wharf (process ${other.pid} on ${other.host}) runs on this ledger`
    if (sole)
      throw new AppError(
        ERRORS.SINGLE_INSTANCE,
        `${who}: to run several instances, set the same REDIS_URL on each of them. If the other was killed, its lease runs out within ${counted(this.#deps.leaseMs / 1_000, 'second')}`,
      )
    if (store === null && sharedDir === null)
      throw notShared(
        `${who}, and this one keeps its files where the other cannot see them: set WHARF_SHARED_DIR to a folder that all instances see, or S3_BUCKET, on each of them. If the other was killed, its lease runs out within ${counted(this.#deps.leaseMs / 1_000, 'second')}`,
      )
    if (other.store !== store)
      throw notShared(
        `${who} and keeps its files in ${other.store ?? 'a folder'}, this one in ${store ?? 'a folder'}: give each of them the same S3_ENDPOINT and S3_BUCKET`,
      )
    if ((other.marker === null) !== (sharedDir === null))
      throw notShared(
        `${who} ${sharedDir === null ? 'with' : 'without'} WHARF_SHARED_DIR, this one ${sharedDir === null ? 'without' : 'with'} it: set it on each of them`,
      )
    if (sharedDir !== null && (await readMarker(this.#markerOf(other.id))) !== other.marker)
      throw notShared(
        `${who}, but its marker is not in ${sharedDir}: WHARF_SHARED_DIR must be the same folder on each of them`,
      )
  }

  async #writeMarker(sharedDir: string): Promise<string> {
    const marker = randomUUID()
    try {
      await makeFolder(join(sharedDir, 'instances'))
      await writeFile(this.#markerOf(this.#deps.instance), `${marker}\n`)
    } catch (cause) {
      throw new AppError(ERRORS.STORAGE_UNAVAILABLE, `cannot write to WHARF_SHARED_DIR ${sharedDir}`, {
        cause,
      })
    }
    return marker
  }

  /** Markers of instances that were killed, once the ledger has forgotten them. */
  async #sweepMarkers(sharedDir: string): Promise<void> {
    const known = await this.#deps.ledger.db.selectFrom('instances').select('id').execute()
    const ids = new Set(known.map(({ id }) => id))
    for (const name of await readdir(join(sharedDir, 'instances'))) {
      if (ids.has(name)) continue
      const found = await stat(this.#markerOf(name)).catch(() => undefined)
      if (found && found.mtimeMs < this.#deps.clock.now() - OLD_MARKER_MS)
        await rm(this.#markerOf(name), { force: true })
    }
  }

  #markerOf(instance: string): string {
    return join(this.#options.sharedDir ?? '', 'instances', instance)
  }
}

/** Who lives in this data dir, whichever process that is. */
function homeOf(dataDir: string): string {
  const file = join(dataDir, 'instance-id')
  const kept = readSecret(file)
  if (kept) return kept
  const made = randomUUID()
  keepSecret(file, made)
  return made
}

async function readMarker(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

function notShared(message: string): AppError {
  return new AppError(ERRORS.FILES_NOT_SHARED, message, { retryable: false })
}
