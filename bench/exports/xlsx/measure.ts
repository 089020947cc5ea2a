import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'

export interface Measured {
  seconds: number
  /** Peak resident megabytes; null where the system does not say. */
  megabytes: number | null
  bytes: number
}

/** Runs one writer in a process of its own, so that its cold start counts, and looks at its memory while it runs. */
export async function measure(command: string, args: string[], target: string): Promise<Measured> {
  const start = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let megabytes: number | null = null
  const look = setInterval(() => {
    megabytes = peakOf(child.pid!) ?? megabytes
  }, 25)
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', resolve)
  }).finally(() => clearInterval(look))
  const seconds = (performance.now() - start) / 1000
  if (code !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${code}: ${complaint.slice(-500)}`)
  return { seconds, megabytes, bytes: statSync(target).size }
}

function peakOf(pid: number): number | null {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? null : Number(kilobytes) / 1024
  } catch {
    return null
  }
}
