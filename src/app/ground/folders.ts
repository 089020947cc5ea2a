import { sep } from 'node:path'
import type { Config } from '../../config.ts'
import { AppError, ERRORS, findLoose, isErrno, type Log, messageOf, takeFolder } from '../../kernel/index.ts'

/** Makes or tightens the folders that the settings name. */
export function openFolders(config: Config): void {
  for (const folder of foldersOf(config)) {
    try {
      takeFolder(folder)
    } catch (cause) {
      const setting = folder === config.WHARF_DATA_DIR ? 'WHARF_DATA_DIR' : 'WHARF_SHARED_DIR'
      const why = isErrno(cause, 'EEXIST', 'ENOTDIR') ? 'there is a file in its place' : messageOf(cause)
      const message = `the folder ${folder} cannot be used (${why}); let this user write there, or set ${setting} to another one`
      throw new AppError(ERRORS.STORAGE_DENIED, message, { cause })
    }
  }
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
