import { readFileSync } from 'node:fs'
import type { Log } from '../../kernel/index.ts'

/** An idle instance has about 50 files and connections open; a busy one needs some for each client and job. */
const ENOUGH = 1_024

/** Beyond the limit the system closes new connections before this process sees them: nobody would learn why. */
export function warnOfFewFiles(log: Log, limit = mostOpenFiles()): void {
  if (limit === undefined || limit >= ENOUGH) return
  log.warn(
    { limit },
    `at most ${limit} files and connections may be open: beyond that connections are refused without a word, and jobs wait; allow at least ${ENOUGH} (ulimit -n, LimitNOFILE= of systemd)`,
  )
}

/** Undefined where the system does not say, or sets none. */
function mostOpenFiles(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}
