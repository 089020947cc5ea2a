import type { Config } from '../config.ts'
import { AppError, ERRORS, findLoose, type Log, messageOf, takeFolder } from '../kernel/index.ts'

/** Makes or tightens the folders that the settings name. */
export function openFolders(config: Config): void {
  for (const folder of foldersOf(config)) {
    try {
      takeFolder(folder)
    } catch (cause) {
      const setting = folder === config.WHARF_DATA_DIR ? 'WHARF_DATA_DIR' : 'WHARF_SHARED_DIR'
      const message = `the folder ${folder} cannot be used (${messageOf(cause)}); let this user write there, or set ${setting} to another one`
      throw new AppError(ERRORS.STORAGE_DENIED, message, { cause })
    }
  }
}

/** Says what other users can read or change in them. */
export async function warnOfLooseFiles(config: Config, log: Log): Promise<void> {
  const shared = [config.LOCAL_STORAGE_PATH, config.TEMP_STORAGE_PATH]
  for (const folder of foldersOf(config)) {
    const { count, example, complete } = await findLoose(folder, { shared })
    if (count === 0) continue
    const number = complete ? count : `at least ${count}`
    log.warn(
      { count, example },
      `${number} files or folders in ${folder} are open to other users, for instance ${example}; to close them: chmod -R go= ${folder}`,
    )
  }
}

function foldersOf({ WHARF_DATA_DIR, filesDir }: Config): Set<string> {
  return new Set([WHARF_DATA_DIR, filesDir])
}
