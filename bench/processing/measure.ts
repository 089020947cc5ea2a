import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { credentials } from '@grpc/grpc-js'
import { loadTaskProto } from '../../src/processing/index.ts'

export interface Measured {
  calls: number
  callsPerSecond: number
  /** Microseconds of processor time that the service spent. */
  cpuPerCall: number
  createP99: number
  statusP99: number
}

export interface Contestant {
  name: string
  round(load: { callers: number; seconds: number }): Promise<Measured>
}

const PROGRAMS = {
  bare: [fileURLToPath(new URL('./bare-service.ts', import.meta.url))],
  wharf: [fileURLToPath(new URL('../../src/main.ts', import.meta.url)), 'serve'],
}

/** A service in a process of its own; started for a round, stopped after it. */
export function hire(
  name: string,
  program: keyof typeof PROGRAMS,
  { folder, env }: { folder: string; env: Record<string, string> },
): Contestant {
  mkdirSync(join(folder, 'temp'), { recursive: true })
  return {
    name,
    async round(load) {
      const child = spawn(process.execPath, PROGRAMS[program], {
        env: {
          PATH: process.env.PATH ?? '',
          WHARF_DATA_DIR: folder,
          WHARF_PORT: '0',
          TASK_GRPC_PORT: '0',
          WHARF_LOG_LEVEL: 'warn',
          ...env,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        const address = await addressOf(child)
        await drive(address, folder, { ...load, seconds: 1 })
        const before = cpuMs(child.pid)
        const measured = await drive(address, folder, load)
        return { ...measured, cpuPerCall: ((cpuMs(child.pid) - before) * 1000) / measured.calls }
      } finally {
        const gone = once(child, 'exit')
        child.kill('SIGTERM')
        await gone
      }
    },
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.once('exit', () => reject(new Error('the service did not start')))
    child.stdout?.on('data', (chunk) => {
      text += chunk
      const address = /gRPC tasks: (\S+)/.exec(text)?.[1]
      if (address) resolve(address)
    })
  })
}

/** User and system time of a process, all threads; clock ticks are hundredths of a second on Linux. */
function cpuMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

let files = 0

async function drive(
  address: string,
  folder: string,
  { callers, seconds }: { callers: number; seconds: number },
): Promise<Omit<Measured, 'cpuPerCall'>> {
  const { TaskService } = loadTaskProto()
  const client = new TaskService(address, credentials.createInsecure())
  const call = (method: 'CreateTask' | 'GetTaskStatus', request: object) =>
    new Promise<{ task_id: string }>((resolve, reject) => {
      client[method]?.(request, (error: Error | null, answer: { task_id: string }) =>
        error ? reject(error) : resolve(answer),
      )
    })
  const creates: number[] = []
  const statuses: number[] = []
  // Files that wait are made beforehand: making them is nobody's work here.
  const waiting = Array.from({ length: callers * seconds * 120 }, () => {
    const path = join(folder, 'temp', `f${files++}`)
    writeFileSync(path, 'x')
    return path
  })
  const until = performance.now() + seconds * 1000
  const started = performance.now()
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        const temp_file_path = waiting.pop()
        if (temp_file_path === undefined) throw new Error('too few files were made for this round')
        const begun = performance.now()
        const { task_id } = await call('CreateTask', { temp_file_path, original_filename: 'film.mp4' })
        const created = performance.now()
        await call('GetTaskStatus', { task_id })
        creates.push(created - begun)
        statuses.push(performance.now() - created)
      }
    }),
  )
  const took = (performance.now() - started) / 1000
  client.close()
  return {
    calls: creates.length + statuses.length,
    callsPerSecond: (creates.length + statuses.length) / took,
    createP99: p99(creates),
    statusP99: p99(statuses),
  }
}

function p99(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}
