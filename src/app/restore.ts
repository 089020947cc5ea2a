import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Config } from '../config.ts'
import {
  AppError,
  createLog,
  ERRORS,
  isAppError,
  keepSecret,
  messageOf,
  readSecret,
  systemClock,
} from '../kernel/index.ts'
import {
  inspectPostgres,
  inspectSqlite,
  knownSchema,
  type LedgerCopy,
  type LedgerFacts,
  loadPostgres,
  type Row,
} from '../ledger/index.ts'
import { opensSecrets } from '../tenancy/index.ts'
import { eachOf } from './backup/each-of.ts'
import { FilePlaces, rowFor } from './backup/file-places.ts'
import { giveToOwner } from './backup/give-to-owner.ts'
import { requireApart } from './backup/keep-apart.ts'
import { type Manifest, readManifest } from './backup/manifest.ts'
import { faultOf, readRows } from './backup/pieces.ts'
import { type BackupStep, FILES_LIST, LAST_BACKUP, type ListedFile } from './backup.ts'
import { openPostgres } from './ground/open-backend.ts'
import { openPlainStore } from './ground/store.ts'

export interface RestoreOptions {
  /** Put the backup in place of a ledger that is there. */
  replace: boolean
  /** Only see whether the backup is whole. */
  check?: boolean
  signal: AbortSignal
  progress(step: BackupStep): void
}

export interface Restored extends Manifest {
  /** Files that the ledger refers to and that are neither in the backup nor where they should be. */
  absent: string[]
}

const FILES_AT_ONCE = 8

/**
 * Puts a backup where the settings say. Everything is checked before anything is changed; then files come first and the ledger
 * last, all at once: one that is broken off can be begun again.
 */
export async function restore(config: Config, folder: string, options: RestoreOptions): Promise<Restored> {
  const manifest = await readManifest(folder)
  if (manifest.schema > knownSchema())
    throw new AppError(
      ERRORS.SCHEMA_TOO_NEW,
      `the backup is of Wharf ${manifest.wharf}, whose ledger is newer than what this one knows; restore it with that version`,
    )
  const files = await verify(folder, manifest, options)
  if (options.check) return { ...manifest, absent: [] }
  requireApart(config, folder, 'move the backup elsewhere, or set WHARF_DATA_DIR to another folder')
  // Instances on PostgreSQL are named, wherever they run; a folder that is held says less.
  if (config.DATABASE_URL !== null) await checkTarget(config, folder, options)
  // Keeps servers off from the first look to the last file.
  const { holdDataDir } = await import('../ledger/sqlite/open-sqlite.ts')
  const held = holdDataDir(config.WHARF_DATA_DIR)
  try {
    return await put(config, { folder, manifest, files }, options)
  } finally {
    held.close()
    const { WHARF_DATA_DIR, WHARF_SHARED_DIR, LOCAL_STORAGE_PATH, TEMP_STORAGE_PATH } = config
    for (const place of [WHARF_DATA_DIR, WHARF_SHARED_DIR, LOCAL_STORAGE_PATH, TEMP_STORAGE_PATH])
      if (place !== null && existsSync(place)) giveToOwner(place)
  }
}

async function put(
  config: Config,
  { folder, manifest, files }: { folder: string; manifest: Manifest; files: ListedFile[] },
  options: RestoreOptions,
): Promise<Restored> {
  await checkTarget(config, folder, options)
  await checkSealKey(config, folder)
  const store = await openPlainStore(config, systemClock)
  try {
    const places = new FilePlaces(config, store)
    await putFiles(places, folder, files, options)
    const storage = await places.storage()
    await load(config, copyOf(folder, manifest, storage))
    await putSecrets(config, folder, manifest)
    return { ...manifest, absent: await absentOf(places, files) }
  } finally {
    await store.close()
  }
}

async function verify(
  folder: string,
  manifest: Manifest,
  { signal, progress }: RestoreOptions,
): Promise<ListedFile[]> {
  const refuse = (fault: string | undefined) => {
    if (fault !== undefined)
      throw new AppError(ERRORS.BACKUP_INVALID, `the backup in ${folder} is damaged: ${fault}`)
  }
  for (const piece of [...manifest.tables, manifest.files, ...manifest.secrets])
    refuse(await faultOf(folder, piece, signal))
  const files: ListedFile[] = []
  for await (const file of readRows<ListedFile>(folder, FILES_LIST)) files.push(file)
  let done = 0
  await eachOf(files, FILES_AT_ONCE, async ({ copy, size, sha256 }) => {
    if (copy !== undefined && sha256 !== undefined)
      refuse(await faultOf(folder, { name: copy, bytes: size, sha256 }, signal))
    progress({ what: 'files checked', done: ++done, total: files.length })
  })
  return files
}

/** Throws if the ledger is in use, or if it holds data and the command does not say that it may be replaced. */
async function checkTarget(config: Config, folder: string, { replace }: RestoreOptions): Promise<void> {
  const { WHARF_DATA_DIR: dataDir } = config
  const facts = await factsOf(config)
  const where = config.DATABASE_URL === null ? dataDir : `PostgreSQL at ${new URL(config.DATABASE_URL).host}`
  if (config.DATABASE_URL !== null && facts && facts.instances.length > 0)
    throw new AppError(
      ERRORS.LEDGER_IN_USE,
      `instances run on ${where} (${facts.instances.map(({ host }) => host).join(', ')}); stop them all, or wait ${config.WHARF_LEASE_SECONDS} s for one that was killed`,
    )
  const others = ['admin-token'].filter((name) => differs(join(dataDir, name), join(folder, 'secrets', name)))
  if (!replace && (facts?.schema != null || others.length > 0))
    throw new AppError(
      ERRORS.LEDGER_NOT_EMPTY,
      facts?.schema != null
        ? `there is a ledger in ${where}; give --replace to put the backup in its place`
        : `there is another ${others[0]} in ${dataDir}; give --replace to put the one of the backup in its place`,
    )
}

async function factsOf({
  DATABASE_URL: url,
  WHARF_DATA_DIR,
  WHARF_LEASE_SECONDS,
}: Config): Promise<LedgerFacts | null> {
  const leaseMs = WHARF_LEASE_SECONDS * 1_000
  const file = join(WHARF_DATA_DIR, 'ledger.db')
  if (url === null) return existsSync(file) ? inspectSqlite(file, { leaseMs }) : null
  try {
    return await inspectPostgres(url, { leaseMs })
  } catch (cause) {
    throw new AppError(
      ERRORS.LEDGER_UNAVAILABLE,
      `PostgreSQL at ${new URL(url).host} cannot be used (${messageOf(cause)}); check DATABASE_URL`,
      { cause },
    )
  }
}

function differs(there: string, backedUp: string): boolean {
  const [own, other] = [readSecret(there), readSecret(backedUp)]
  return own !== undefined && other !== undefined && own !== other
}

/** Without the key, a restored server would refuse to start. */
async function checkSealKey({ WHARF_SEAL_KEY: sealKey }: Config, folder: string): Promise<void> {
  const settings = new Map<string, string>()
  for await (const { key, value } of readRows<Row>(folder, 'ledger/settings.jsonl.gz'))
    settings.set(String(key), String(value))
  if (!opensSecrets(settings, sealKey))
    throw new AppError(
      ERRORS.CONFIG_INVALID,
      'WHARF_SEAL_KEY must be the key that the secrets in this backup were sealed with; it is not part of a backup',
    )
}

async function putFiles(
  places: FilePlaces,
  folder: string,
  files: readonly ListedFile[],
  { signal, progress }: RestoreOptions,
): Promise<void> {
  const copies = files.filter(({ copy }) => copy !== undefined)
  let done = 0
  await eachOf(copies, FILES_AT_ONCE, async (file) => {
    signal.throwIfAborted()
    await places.put(file, join(folder, file.copy ?? ''), {
      contentType: file.content_type ?? 'application/octet-stream',
      fileName: file.file_name ?? null,
      signal,
    })
    progress({ what: 'files', done: ++done, total: copies.length })
  })
}

function copyOf(folder: string, { schema, tables, created_at }: Manifest, storage: string): LedgerCopy {
  const pieces = new Map(tables.map(({ table, name }) => [table, name]))
  return {
    schema,
    tables: [...pieces.keys()],
    async *rows(table) {
      for await (const row of readRows<Row>(folder, pieces.get(table) ?? ''))
        if (table !== 'settings' || row.key !== LAST_BACKUP) yield rowFor(table, row, storage)
      // The time of this backup, which was noted after it was taken.
      if (table === 'settings')
        yield { key: LAST_BACKUP, value: created_at, updated_at: Date.parse(created_at) }
    },
  }
}

async function load({ DATABASE_URL: url, WHARF_DATA_DIR: dataDir }: Config, copy: LedgerCopy): Promise<void> {
  try {
    if (url === null) {
      const { loadSqlite } = await import('../ledger/copy/load-sqlite.ts')
      await loadSqlite(dataDir, copy, systemClock)
      return
    }
    const ledger = await openPostgres(url, createLog({ level: 'silent' }), false)
    await loadPostgres(ledger, copy).finally(() => ledger.close())
  } catch (error) {
    if (isAppError(error)) throw error
    throw new AppError(
      ERRORS.BACKUP_INVALID,
      `the ledger does not take the backup (${messageOf(error)}); nothing was changed in it`,
      { cause: error },
    )
  }
}

async function putSecrets({ WHARF_DATA_DIR }: Config, folder: string, { secrets }: Manifest): Promise<void> {
  for (const { name } of secrets)
    keepSecret(join(WHARF_DATA_DIR, basename(name)), (await readFile(join(folder, name), 'utf8')).trim())
}

async function absentOf(places: FilePlaces, files: readonly ListedFile[]): Promise<string[]> {
  const absent: string[] = []
  await eachOf(files, FILES_AT_ONCE, async (file) => {
    if (file.copy === undefined && (await places.sizeOf(file)) === null)
      absent.push(`${file.place} ${file.path}`)
  })
  return absent
}
