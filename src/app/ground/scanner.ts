import type { Config } from '../../config.ts'
import { FileScanner, type Log } from '../../kernel/index.ts'

/** null: files are not scanned. */
export function openScanner(config: Config, log: Log): FileScanner | null {
  if (config.SCAN_COMMAND === null) return null
  return new FileScanner(log, {
    command: config.SCAN_COMMAND,
    timeoutMs: config.SCAN_TIMEOUT_SECONDS * 1000,
    concurrency: config.SCAN_CONCURRENCY,
    environment: config.commandEnvironment,
  })
}
