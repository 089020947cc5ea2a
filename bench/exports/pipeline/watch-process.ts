import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'

/** For processes that do Wharf's work without its command: as bin/tune.mjs sets them. */
export const NURSERY = ['--max-semi-space-size=2', '--semi-space-growth-factor=1']

export interface Watched {
  seconds: number
  /** Processor seconds of the process with all its threads: other work on the machine disturbs them less. */
  cpu: number
  megabytes: number
  /** Of the file that it made. */
  bytes: number
}

const TICKS_A_SECOND = 100

/** Runs a script in a process of its own, cold start and all, and looks at it through /proc while it runs. */
export async function watchProcess(args: string[], target: string): Promise<Watched> {
  const start = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const seen = { cpu: 0, megabytes: 0 }
  const look = setInterval(() => {
    try {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      seen.cpu = (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      if (peak !== undefined) seen.megabytes = Number(peak) / 1024
    } catch {
      // It has just ended.
    }
  }, 10)
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const [code] = await once(child, 'close').finally(() => clearInterval(look))
  const seconds = (performance.now() - start) / 1000
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${complaint.slice(-500)}`)
  return { seconds, ...seen, bytes: statSync(target).size }
}
