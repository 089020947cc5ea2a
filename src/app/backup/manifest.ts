import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, ERRORS, isErrno, messageOf, openFile, writeFile } from '../../kernel/index.ts'
import type { Piece } from './pieces.ts'

/** What a backup holds. It is written last: a folder without it holds an unfinished backup. */
export interface Manifest {
  format: 1
  /** The version that made it. */
  wharf: string
  created_at: string
  ledger: 'sqlite' | 'postgres'
  /** The migration that the rows are at. */
  schema: number
  tables: (Piece & { table: string; rows: number })[]
  /** Whether the files are here or only named; `missing` were gone when they were to be read. */
  files: Piece & { mode: FilesMode; count: number; total_bytes: number; missing: number }
  secrets: Piece[]
}

export type FilesMode = 'copy' | 'list'

const NAME = 'manifest.json'

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, NAME)
  await writeFile(`${path}.part`, `${JSON.stringify({ ...manifest, sha256: checksum(manifest) }, null, 2)}\n`)
  const handle = await openFile(`${path}.part`, 'r+')
  await handle.sync().finally(() => handle.close())
  await rename(`${path}.part`, path)
}

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: unknown) => {
    if (!existsSync(folder)) throw invalid(`there is no folder ${folder}`)
    if (isErrno(error, 'ENOENT', 'ENOTDIR'))
      throw invalid(`${folder} holds no whole backup: it has no ${NAME}, which is written last`)
    throw invalid(`${folder} cannot be read (${messageOf(error)})`)
  })
  const { sha256, ...manifest } = parsed(text)
  if (manifest.format !== 1)
    throw invalid(
      `${folder} has format ${manifest.format}, this Wharf reads format 1: use the Wharf that made it`,
    )
  if (sha256 !== checksum(manifest)) throw invalid(`${NAME} in ${folder} was changed or is not whole`)
  return manifest
}

function parsed(text: string): Manifest & { sha256?: string } {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError(ERRORS.BACKUP_INVALID, `${NAME} is not whole: it is not JSON`, { cause })
  }
}

function checksum(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
}

function invalid(message: string): AppError {
  return new AppError(ERRORS.BACKUP_INVALID, message)
}
