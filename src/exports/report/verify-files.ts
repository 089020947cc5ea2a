import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError, counted, ERRORS, messageOf } from '../../kernel/index.ts'
import { countLines, lookAtFile } from './file-check.ts'
import type { FileReport, PartReport } from './file-report.ts'
import { isAmong, isGenuine, MANIFEST_FORMAT, type PublicKeys, type Signed } from './manifest.ts'

/** A manifest as it is read: that inside an archive knows its parts alone. */
type Manifest = { format: string; parts: PartReport[]; watermark?: string | null } & Partial<FileReport> &
  Partial<Signed<object>>

export interface Finding {
  good: boolean
  /** Nothing is wrong, and nothing is proved. */
  unproved?: true
  /** A file's name, or `signature`. */
  what: string
  message: string
}

/** Compares files with a manifest, offline. */
export async function verifyFiles(
  files: readonly string[],
  { manifest: manifestPath, keys: keysPath }: { manifest: string; keys?: string | undefined },
): Promise<Finding[]> {
  const manifest = await readManifest(manifestPath)
  const keys = keysPath === undefined ? undefined : await readKeys(keysPath)
  const findings = [signatureOf(manifest, keys), ...sumsOf(manifest)]
  for (const file of files) findings.push(await fileOf(file, manifest))
  return findings
}

function signatureOf({ signature, ...rest }: Manifest, keys: PublicKeys | undefined): Finding {
  const what = 'signature'
  if (!signature) {
    const message = 'not signed: anybody may have written the manifest'
    return keys ? { good: false, what, message } : { good: true, unproved: true, what, message }
  }
  if (!isGenuine({ ...rest, signature }))
    return { good: false, what, message: 'does not match: the manifest was changed after it was signed' }
  const by = `key ${signature.key_id}`
  if (!keys) return { good: true, what, message: `matches ${by}; whose key that is was not checked (--keys)` }
  return isAmong(signature, keys)
    ? { good: true, what, message: `matches ${by}, which is among the given keys` }
    : { good: false, what, message: `was made by ${by}, which is not among the given keys` }
}

/** Rows of the parts, of the whole and of its tables must agree. */
function sumsOf({ parts, file, tables }: Manifest): Finding[] {
  const sum = parts.reduce((rows, part) => rows + part.rows, 0)
  const written = tables?.reduce((rows, table) => rows + table.written, 0)
  const wanted = [file?.rows, written].find((rows) => rows !== undefined && rows !== sum)
  if (wanted === undefined) return []
  return [{ good: false, what: 'rows', message: `the parts have ${sum}, the manifest says ${wanted}` }]
}

async function fileOf(path: string, manifest: Manifest): Promise<Finding> {
  const name = basename(path)
  const known = [...(manifest.file ? [manifest.file] : []), ...manifest.parts]
  const type = manifest.file?.content_type ?? ''
  const seen = await lookAtFile(path, { width: type.includes('utf-16') ? 2 : 1 }).catch((error: unknown) => {
    throw new AppError(ERRORS.REQUEST_INVALID, `cannot read ${path}: ${messageOf(error)}`, { cause: error })
  })
  const bad = (message: string): Finding => ({ good: false, what: name, message })
  const same = known.find(({ sha256 }) => sha256 === seen.sha256)
  const meant = same ?? known.find((part) => part.name === name)
  if (!meant) return bad('is not in the manifest, by name or by content')
  const rows = type.startsWith('text/csv')
    ? withoutMark(seen.records - 1, manifest)
    : await linesOf(path, manifest)
  if (same) {
    if (rows !== undefined && rows !== same.rows)
      return bad(`has ${counted(rows, 'row')}, the manifest says ${same.rows}`)
    const renamed = same.name === name ? '' : `, there named ${same.name}`
    return {
      good: true,
      what: name,
      message: `${counted(same.rows, 'row')}, ${counted(same.size, 'byte')}, SHA-256 matches${renamed}`,
    }
  }
  const differences = [
    ...(seen.size === meant.size ? [] : [`${counted(seen.size, 'byte')} in place of ${meant.size}`]),
    ...(rows === undefined || rows === meant.rows
      ? []
      : [`${counted(rows, 'row')} in place of ${meant.rows}`]),
    `SHA-256 ${seen.sha256} in place of ${meant.sha256}`,
  ]
  return bad(`was changed: ${differences.join(', ')}`)
}

/** Rows of a JSON lines file; undefined: it is another format, or cannot be read. */
async function linesOf(path: string, manifest: Manifest): Promise<number | undefined> {
  const [found, ending] = /\.jsonl(\.gz|\.zst)?$/.exec(manifest.file?.name ?? '') ?? []
  if (found === undefined) return undefined
  const lines = await countLines(path, ending === '.gz' ? 'gzip' : ending === '.zst' ? 'zstd' : null)
  return lines === undefined ? undefined : withoutMark(lines, manifest)
}

/** A watermark is the last record of a file. */
function withoutMark(records: number, { watermark }: Manifest): number {
  return Math.max(0, records - (watermark ? 1 : 0))
}

async function readManifest(path: string): Promise<Manifest> {
  const manifest = (await readJson(path)) as Partial<Manifest> | null
  if (manifest?.format !== MANIFEST_FORMAT || !Array.isArray(manifest.parts))
    throw new AppError(ERRORS.REQUEST_INVALID, `${path} is not a manifest (${MANIFEST_FORMAT})`)
  return manifest as Manifest
}

async function readKeys(path: string): Promise<PublicKeys> {
  const keys = (await readJson(path)) as Partial<PublicKeys> | null
  if (!Array.isArray(keys?.keys))
    throw new AppError(
      ERRORS.REQUEST_INVALID,
      `${path} has no keys; save what /.well-known/wharf-keys answers`,
    )
  return keys as PublicKeys
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new AppError(ERRORS.REQUEST_INVALID, `cannot read ${path}: ${messageOf(cause)}`, { cause })
  }
}
