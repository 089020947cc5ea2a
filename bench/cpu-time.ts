import { readFileSync } from 'node:fs'

/** What the system calls a tick, everywhere on Linux. */
const TICK_MS = 10

/**
 * Processor time that a process has spent; undefined when it is gone. Ticks are coarse: measure long enough. The finer
 * count of the scheduler has it per thread only.
 */
export function cpuMsOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Counted from behind the name, which may hold blanks: user and system time are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return undefined
  }
}
