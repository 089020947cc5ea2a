import { sep } from 'node:path'
import type { Config } from '../../config.ts'
import { AppError, ERRORS, findLoose, isErrno, type Log, messageOf, takeFolder } from '../../kernel/index.ts'

/** Every setting that is a folder. */
const FOLDERS = ['WHARF_DATA_DIR', 'WHARF_SHARED_DIR', 'LOCAL_STORAGE_PATH', 'TEMP_STORAGE_PATH'] as const

interface NamedFolder {
  setting: (typeof FOLDERS)[number]
  folder: string
}

/** Where Wharf keeps things, each with the setting that names it. The last two are below the others by default. */
export function namedFolders(config: Config): NamedFolder[] {
  return FOLDERS.flatMap((setting) => {
    const folder = config[setting]
    return folder === null ? [] : [{ setting, folder }]
  })
}

/** Makes or tightens the folders that are Wharf's own; those for tasks are made by their domain. */
export function openFolders(config: Config): void {
  const own = foldersOf(config)
  for (const named of namedFolders(config).filter(({ folder }) => own.delete(folder))) {
    try {
      takeFolder(named.folder)
    } catch (cause) {
      throw folderError(named, cause)
    }
  }
}

/** The same for a folder that is made later, of which the system says a path only. */
export function madeFolderError(config: Config, path: string, cause: unknown): unknown {
  const named = namedFolders(config).find(({ folder }) => `${folder}${sep}`.startsWith(`${path}${sep}`))
  return named === undefined ? cause : folderError(named, cause)
}

export function folderError({ setting, folder }: NamedFolder, cause: unknown): AppError {
  const why = isErrno(cause, 'EEXIST', 'ENOTDIR') ? 'there is a file in its place' : messageOf(cause)
  const message = `the folder ${folder} cannot be used (${why}); let this user write there, or set ${setting} to another one`
  return new AppError(ERRORS.STORAGE_DENIED, message, { cause })
}

/** Says what other users can read or change in them, and the commands that close exactly that. */
export async function warnOfLooseFiles(config: Config, log: Log): Promise<void> {
  const shared = [config.LOCAL_STORAGE_PATH, config.TEMP_STORAGE_PATH]
  for (const folder of foldersOf(config)) {
    const { count, example, parts, complete } = await findLoose(folder, { shared })
    if (count === 0) continue
    const number = complete ? count : `at least ${count}`
    const commands = parts.map(({ path, isFolder }) => closing(path, isFolder, shared))
    log.warn(
      { count, example, commands },
      `${number} files or folders of Wharf in ${folder} are open to other users, for instance ${example}; to close them: ${commands.join('; ')}`,
    )
  }
}

/** A folder is closed with all that is in it, but for folders below that are meant to be shared; links are not followed. */
function closing(path: string, isFolder: boolean, shared: readonly string[]): string {
  if (!isFolder) return `chmod go= ${quoted(path)}`
  const spared = shared.filter((other) => other.startsWith(path + sep))
  if (spared.length === 0) return `chmod -R go= ${quoted(path)}`
  const not = spared.map((other) => `-path ${quoted(other)} -prune -o`).join(' ')
  return `find ${quoted(path)} ${not} ! -type l -exec chmod go= {} +`
}

function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

function foldersOf({ WHARF_DATA_DIR, filesDir }: Config): Set<string> {
  return new Set([WHARF_DATA_DIR, filesDir])
}
