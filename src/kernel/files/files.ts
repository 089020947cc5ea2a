import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
  writeFileSync as writePlainSync,
} from 'node:fs'
import {
  chmod,
  copyFile as copyPlain,
  type FileHandle,
  mkdir,
  open,
  readdir,
  stat,
  writeFile as writePlain,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isErrno } from '../errno.ts'

/** Who may read and write what Wharf keeps. The linter lets nobody else create files or folders. */
export interface FileAccess {
  readonly file: number
  readonly folder: number
}

/** For all but what other users' programs share with Wharf. */
export const PRIVATE: FileAccess = { file: 0o600, folder: 0o700 }

/** The access that a folder's mode means: its files have the same, without the right to enter. */
export function accessOf(folder: number): FileAccess {
  return { folder, file: folder & 0o666 }
}

/** Files that it creates are private, whatever the umask. */
export function openFile(path: string, flags: string | number = 'r'): Promise<FileHandle> {
  return open(path, flags, PRIVATE.file)
}

/** A file that others share: the umask takes nothing away from it. */
export async function openShared(path: string, flags: string, access: FileAccess): Promise<FileHandle> {
  const handle = await open(path, flags, access.file)
  try {
    await handle.chmod(access.file)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

export function openFileSync(path: string, flags = 'r'): number {
  return openSync(path, flags, PRIVATE.file)
}

/** Reads `bytes` from `offset` on into the beginning of `target`. False: the file ends before. */
export function readSliceSync(
  { path, offset, bytes }: { path: string; offset: number; bytes: number },
  target: Uint8Array,
): boolean {
  const file = openFileSync(path)
  try {
    for (let done = 0; done < bytes; ) {
      const count = readSync(file, target, done, bytes - done, offset + done)
      if (count === 0) return false
      done += count
    }
    return true
  } finally {
    closeSync(file)
  }
}

/**
 * Makes an empty file, if there is none. One that is there is not opened: closing it again would take away every lock
 * that this process holds on it.
 */
export function touchFileSync(path: string): void {
  try {
    closeSync(openSync(path, 'wx', PRIVATE.file))
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
  }
}

export async function writeFile(path: string, content: string): Promise<void> {
  await writePlain(path, content, { mode: PRIVATE.file })
}

/** Also tightens a file that is there already. */
export function writeFileSync(path: string, content: string): void {
  writePlainSync(path, content, { mode: PRIVATE.file })
  chmodSync(path, PRIVATE.file)
}

/** Fails when there is something at `to` already. */
export async function copyFile(from: string, to: string): Promise<void> {
  await copyPlain(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  const handle = await open(to, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    await handle.chmod(PRIVATE.file)
  } finally {
    await handle.close()
  }
}

/** Others may remove a folder on the way meanwhile. */
const TRIES = 5

/**
 * Makes a folder and those above it; false: it was there. Node's own `recursive` never returns where a folder that is
 * there answers ENOENT to whoever makes one in it, as /proc does.
 */
async function makePath(path: string, mode: number, tries = TRIES): Promise<boolean> {
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) return unlessFolder(await stat(path).catch(() => undefined), error)
    if (tries === 0 || dirname(path) === path) throw error
    await makePath(dirname(path), mode)
    return makePath(path, mode, tries - 1)
  }
}

function makePathSync(path: string, mode: number, tries = TRIES): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) return unlessFolder(statSync(path, { throwIfNoEntry: false }), error)
    if (tries === 0 || dirname(path) === path) throw error
    makePathSync(dirname(path), mode)
    return makePathSync(path, mode, tries - 1)
  }
}

function unlessFolder(found: Stats | undefined, error: unknown): false {
  if (found?.isDirectory()) return false
  throw error
}

/** Makes a folder and those above it; one that is there already gets no looser, and is tightened. */
export async function makeFolder(path: string, access: FileAccess = PRIVATE): Promise<void> {
  const made = await makePath(path, access.folder)
  const wanted = modeFor(await stat(path), access, made)
  if (wanted !== undefined) await chmod(path, wanted).catch(unlessForeign)
}

export function makeFolderSync(path: string, access: FileAccess = PRIVATE): void {
  const made = makePathSync(path, access.folder)
  const wanted = modeFor(statSync(path), access, made)
  if (wanted === undefined) return
  try {
    chmodSync(path, wanted)
  } catch (error) {
    unlessForeign(error)
  }
}

/** Fails when there is something already. */
export async function makeNewFolder(path: string): Promise<void> {
  await mkdir(path, { mode: PRIVATE.folder })
}

/** What shows that a folder is Wharf's own, when it is not empty. */
const SURE_NAMES = ['ledger.db', 'admin-token', 'files', 'spool', 'accounts', 'instances', 'videos', 'temp']
/** Everything that Wharf makes in a folder that an operator named. */
const OWN_NAMES = [
  ...SURE_NAMES,
  ...[
    'ledger.db-shm',
    'ledger.db-wal',
    'lock.db',
    'demo-key',
    'demo-agent',
    'instance-id',
    'address',
    'sync',
  ],
  'transfer-cache',
]

/**
 * Makes or tightens the folder that an operator named. One that others use too, like /tmp, is left as it is. 0710 stays:
 * it lets a group pass to folders below that are shared, and shows it nothing else.
 */
export function takeFolder(path: string): void {
  if (makePathSync(path, PRIVATE.folder)) return
  const { mode } = statSync(path)
  const names = readdirSync(path)
  if (isOwnFolder(mode, names) && (mode & 0o777) !== 0o710) makeFolderSync(path)
}

function isOwnFolder(mode: number, names: readonly string[]): boolean {
  return (mode & 0o1000) === 0 && (names.length === 0 || names.some((name) => SURE_NAMES.includes(name)))
}

export interface LooseFiles {
  count: number
  /** The first one. */
  example: string | null
  /** What Wharf has made in the folder, or the folder itself, with something loose in it. */
  parts: { path: string; isFolder: boolean }[]
  /** False when there were too many to look at all of them. */
  complete: boolean
}

/**
 * What users other than Wharf's own can read or change of the things that Wharf has made in a folder, apart from the
 * folders that are meant to be shared. Things of others that are there too are not looked at.
 */
export async function findLoose(
  root: string,
  { shared, most = 20_000 }: { shared: readonly string[]; most?: number },
): Promise<LooseFiles> {
  const found: LooseFiles = { count: 0, example: null, parts: [], complete: true }
  let seen = 0
  const isLoose = async (path: string, allowed: number) => {
    const entry = await stat(path).catch(() => undefined)
    if (!entry || (entry.mode & 0o077 & ~allowed) === 0) return false
    found.count++
    found.example ??= path
    return true
  }
  const names = await readdir(root, { withFileTypes: true }).catch(() => [])
  const mode = (await stat(root).catch(() => undefined))?.mode ?? 0o1000
  const isOwn = isOwnFolder(
    mode,
    names.map(({ name }) => name),
  )
  if (isOwn && (await isLoose(root, 0o010))) found.parts.push({ path: root, isFolder: false })
  for (const top of names) {
    if (!OWN_NAMES.includes(top.name)) continue
    let any = false
    const entries = [{ entry: top, path: join(root, top.name) }]
    for (let next = entries.pop(); next !== undefined; next = entries.pop()) {
      const { entry, path } = next
      if (shared.includes(path) || entry.isSymbolicLink()) continue
      if (seen++ >= most) {
        found.complete = false
        break
      }
      if (await isLoose(path, 0)) any = true
      if (!entry.isDirectory()) continue
      for (const below of await readdir(path, { withFileTypes: true }).catch(() => []))
        entries.push({ entry: below, path: join(path, below.name) })
    }
    if (any) found.parts.push({ path: join(root, top.name), isFolder: top.isDirectory() })
  }
  return found
}

/** Makes a rename or unlink inside the folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await openFile(path)
  try {
    await handle.sync()
  } catch (error) {
    // Windows and some network file systems cannot sync a folder; they order renames by themselves.
    if (!isErrno(error, 'EISDIR', 'EINVAL', 'EPERM', 'ENOTSUP')) throw error
  } finally {
    await handle.close()
  }
}

/** undefined: it is good as it is. */
function modeFor({ mode, uid }: Stats, { folder }: FileAccess, made: boolean): number | undefined {
  const now = mode & 0o777
  if (made) return now === folder ? undefined : folder
  const tight = now & folder
  return tight === now || uid !== process.getuid?.() ? undefined : tight
}

/** A disk without modes, or somebody else's folder: the start warns about what is loose. */
function unlessForeign(error: unknown): void {
  if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EROFS')) throw error
}
