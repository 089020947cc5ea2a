import { readdirSync, readFileSync } from 'node:fs'

/** What the system calls a tick, everywhere on Linux. */
const TICK_MS = 10

/**
 * Processor time that a process has spent; undefined when it is gone. Ticks are coarse: measure long enough. The finer
 * count of the scheduler has it per thread only.
 */
export function cpuMsOf(pid: number): number | undefined {
  return statOf(pid)?.cpuMs
}

/** The same for a process and all that it has started, servers and their processes included. */
export function cpuMsOfTree(root: number): number {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const stats = new Map(pids.flatMap((pid) => [[pid, statOf(pid)] as const]))
  const isOurs = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 1 && isOurs(stats.get(pid)?.parent))
  return pids.filter(isOurs).reduce((sum, pid) => sum + (stats.get(pid)?.cpuMs ?? 0), 0)
}

function statOf(pid: number): { parent: number; cpuMs: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Counted from after the name, which may hold blanks: user and system time are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS }
  } catch {
    return undefined
  }
}
