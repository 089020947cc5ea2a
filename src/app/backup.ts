import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import {
  AppError,
  createLog,
  ERRORS,
  isErrno,
  makeFolder,
  messageOf,
  readSecret,
  removeTree,
  systemClock,
} from '../kernel/index.ts'
import { dumpPostgres, dumpSqlite, type LedgerCopy, setSqliteSetting } from '../ledger/index.ts'
import { SettingsStore } from '../tenancy/index.ts'
import { VERSION } from '../version.ts'
import { eachOf } from './backup/each-of.ts'
import { type FilePlace, FilePlaces, filesOf } from './backup/file-places.ts'
import { requireApart } from './backup/keep-apart.ts'
import { type FilesMode, type Manifest, writeManifest } from './backup/manifest.ts'
import { writePiece, writeRows } from './backup/pieces.ts'
import { noWharfIn } from './ground/no-wharf.ts'
import { openPostgres } from './ground/open-backend.ts'
import { openPlainStore } from './ground/store.ts'

export interface BackupOptions {
  files: FilesMode
  signal: AbortSignal
  progress(step: BackupStep): void
}

export interface BackupStep {
  what: string
  done: number
  total: number
}

/** A line of the list of files. `missing`: it was gone when it was to be read, mostly because its time was over. */
export interface ListedFile extends FilePlace {
  size: number
  missing?: true
  /** Where its bytes are, below the backup's folder. */
  copy?: string
  sha256?: string
  content_type?: string
  file_name?: string | null
}

export const FILES_LIST = 'files.jsonl.gz'
/** Of the data dir. */
const SECRETS = ['admin-token', 'demo-key']
export const LAST_BACKUP = 'last_backup_at'
const FILES_AT_ONCE = 8

/** Writes a backup of the installation of these settings into an empty or new folder, whether a server runs or not. */
export async function backUp(config: Config, folder: string, options: BackupOptions): Promise<Manifest> {
  requireApart(config, folder, 'a backup needs a folder apart from it, best on another disk')
  const source = await openSource(config)
  try {
    const isNew = await takeEmpty(folder)
    try {
      const manifest = await write(config, source, folder, options)
      await source.note(manifest.created_at)
      return manifest
    } catch (error) {
      await clear(folder, isNew)
      throw fileError(error, folder)
    }
  } finally {
    await source.close()
  }
}

interface Source {
  ledger: Manifest['ledger']
  dump<T>(use: (copy: LedgerCopy) => Promise<T>): Promise<T>
  note(at: string): Promise<void>
  close(): Promise<void>
}

async function openSource(config: Config): Promise<Source> {
  const { DATABASE_URL: url, WHARF_DATA_DIR: dataDir } = config
  // Says in words what keeps it from PostgreSQL, so it is asked first.
  const ledger = url === null ? null : await openPostgres(url, createLog({ level: 'silent' }), false)
  const missing = await noWharfIn(config)
  if (missing !== undefined) {
    await ledger?.close()
    throw new AppError(ERRORS.CONFIG_INVALID, missing)
  }
  if (ledger !== null)
    return {
      ledger: 'postgres',
      dump: (use) => dumpPostgres(ledger, use),
      note: (at) => new SettingsStore(ledger).set(LAST_BACKUP, at),
      close: () => ledger.close(),
    }
  const file = join(dataDir, 'ledger.db')
  return {
    ledger: 'sqlite',
    dump: (use) => dumpSqlite(file, use),
    note: async (at) => setSqliteSetting(file, LAST_BACKUP, at),
    close: async () => undefined,
  }
}

async function write(
  config: Config,
  source: Source,
  folder: string,
  options: BackupOptions,
): Promise<Manifest> {
  const created_at = new Date().toISOString()
  const files = new Map<string, FilePlace>()
  const { schema, tables } = await source.dump((copy) => writeTables(copy, folder, files, options))
  const listed = await writeFiles(config, folder, files.values(), files.size, options)
  const secrets = await writeSecrets(config, folder, options.signal)
  const list = await writeRows(folder, FILES_LIST, listed, options.signal)
  const { rows: count, ...piece } = list
  const there = listed.filter(({ missing }) => !missing)
  const manifest: Manifest = {
    ...{ format: 1, wharf: VERSION, created_at, ledger: source.ledger, schema, tables, secrets },
    files: {
      ...{ mode: options.files, ...piece, count, missing: count - there.length },
      total_bytes: there.reduce((sum, { size }) => sum + size, 0),
    },
  }
  await writeManifest(folder, manifest)
  return manifest
}

async function writeTables(
  copy: LedgerCopy,
  folder: string,
  files: Map<string, FilePlace>,
  { signal, progress }: BackupOptions,
): Promise<Pick<Manifest, 'schema' | 'tables'>> {
  await makeFolder(join(folder, 'ledger'))
  const tables: Manifest['tables'] = []
  for (const table of copy.tables) {
    async function* rows() {
      for await (const row of copy.rows(table)) {
        for (const file of filesOf(table, row)) files.set(`${file.place} ${file.path}`, file)
        yield row
      }
    }
    tables.push({ table, ...(await writeRows(folder, `ledger/${table}.jsonl.gz`, rows(), signal)) })
    progress({ what: 'tables of the ledger', done: tables.length, total: copy.tables.length })
  }
  return { schema: copy.schema, tables }
}

async function writeFiles(
  config: Config,
  folder: string,
  files: Iterable<FilePlace>,
  total: number,
  { files: mode, signal, progress }: BackupOptions,
): Promise<ListedFile[]> {
  const listed: ListedFile[] = []
  if (total === 0) return listed
  if (mode === 'copy') await makeFolder(join(folder, 'files'))
  const store = await openPlainStore(config, systemClock)
  const places = new FilePlaces(config, store)
  let begun = 0
  try {
    await eachOf(files, FILES_AT_ONCE, async (file) => {
      signal.throwIfAborted()
      const copy = `files/${String(++begun).padStart(7, '0')}`
      listed.push(await (mode === 'copy' ? copied(places, file, folder, copy, signal) : named(places, file)))
      progress({ what: 'files', done: listed.length, total })
    })
  } finally {
    await store.close()
  }
  return listed
}

async function named(places: FilePlaces, file: FilePlace): Promise<ListedFile> {
  const size = await places.sizeOf(file)
  return size === null ? { ...file, size: 0, missing: true } : { ...file, size }
}

async function copied(
  places: FilePlaces,
  file: FilePlace,
  folder: string,
  copy: string,
  signal: AbortSignal,
): Promise<ListedFile> {
  const found = await places.open(file, signal)
  if (found === null) return { ...file, size: 0, missing: true }
  const { contentType, fileName, stream } = found
  const { bytes: size, sha256 } = await writePiece(folder, copy, stream, signal)
  return {
    ...{ ...file, size, copy, sha256 },
    ...(contentType !== undefined && { content_type: contentType, file_name: fileName ?? null }),
  }
}

async function writeSecrets({ WHARF_DATA_DIR }: Config, folder: string, signal: AbortSignal) {
  const pieces: Manifest['secrets'] = []
  for (const name of SECRETS) {
    const secret = readSecret(join(WHARF_DATA_DIR, name))
    if (secret === undefined) continue
    await makeFolder(join(folder, 'secrets'))
    pieces.push(await writePiece(folder, `secrets/${name}`, oneChunk(`${secret}\n`), signal))
  }
  return pieces
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** True if it was made. */
async function takeEmpty(folder: string): Promise<boolean> {
  try {
    const names = await readdir(folder).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    })
    if (names !== undefined && names.length > 0)
      throw new AppError(
        ERRORS.OUTPUT_UNUSABLE,
        `${folder} is not empty; a backup needs a folder of its own, such as ${folder}/${new Date().toISOString().slice(0, 10)}`,
      )
    await makeFolder(folder)
    return names === undefined
  } catch (error) {
    throw fileError(error, folder)
  }
}

async function clear(folder: string, isNew: boolean): Promise<void> {
  if (isNew) return removeTree(folder)
  for (const name of await readdir(folder)) await removeTree(join(folder, name))
}

function fileError(error: unknown, folder: string): unknown {
  const isDisk = error instanceof Error && 'syscall' in error && !(error instanceof AppError)
  if (!isDisk) return error
  return new AppError(ERRORS.OUTPUT_UNUSABLE, `cannot write to ${folder}: ${messageOf(error)}`, {
    cause: error,
  })
}
