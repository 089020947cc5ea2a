import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { credentials } from '@grpc/grpc-js'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'

export interface Measured {
  callsPerSecond: number
  /** Microseconds of processor time that the service spent, all its threads. */
  cpuPerCall: number
  createP99: number
  statusP99: number
}

export interface Load {
  callers: number
  /** Tasks before the clock starts: what is measured is a service that runs, not one that starts. */
  warmUp: number
  /** Each is made and then asked for: two calls. */
  tasks: number
}

const PROGRAMS = {
  bare: [fileURLToPath(new URL('./bare-service.ts', import.meta.url))],
  wharf: [fileURLToPath(new URL('../../src/main.ts', import.meta.url)), 'serve'],
}

export type Program = keyof typeof PROGRAMS

/** Starts a service in a process of its own, drives it, stops it. */
export async function measure(
  program: Program,
  { folder, env }: { folder: string; env: Record<string, string> },
  { callers, warmUp, tasks }: Load,
): Promise<Measured> {
  // Files are made beforehand: making them is nobody's work here.
  const files = makeFiles(join(folder, 'temp'), warmUp + tasks)
  const child = spawn(process.execPath, PROGRAMS[program], {
    env: {
      PATH: process.env.PATH ?? '',
      WHARF_DATA_DIR: folder,
      LOCAL_STORAGE_PATH: join(folder, 'videos'),
      TEMP_STORAGE_PATH: join(folder, 'temp'),
      WHARF_PORT: '0',
      TASK_GRPC_PORT: '0',
      WHARF_LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const address = await addressOf(child)
    await drive(address, callers, files.splice(0, warmUp))
    const before = cpuMs(child.pid)
    const measured = await drive(address, callers, files)
    return { ...measured, cpuPerCall: ((cpuMs(child.pid) - before) * 1000) / (tasks * 2) }
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
  }
}

function makeFiles(folder: string, count: number): string[] {
  mkdirSync(folder, { recursive: true })
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, `f${index}`)
    writeFileSync(path, 'x')
    return path
  })
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the service did not start')))
    for (const stream of [child.stdout, child.stderr]) {
      let text = ''
      stream?.on('data', (chunk) => {
        text += chunk
        const address = /gRPC tasks: (\S+)/.exec(text)?.[1]
        if (address) resolve(address)
      })
    }
  })
}

/** User and system time of a process, all threads; clock ticks are hundredths of a second on Linux. */
function cpuMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Makes a task of each file and asks for it, `callers` at a time. */
async function drive(
  address: string,
  callers: number,
  files: string[],
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
  const waiting = [...files]
  const started = performance.now()
  const caller = async () => {
    for (let temp_file_path = waiting.pop(); temp_file_path !== undefined; temp_file_path = waiting.pop()) {
      const begun = performance.now()
      const { task_id } = await call('CreateTask', { temp_file_path, original_filename: 'film.mp4' })
      const created = performance.now()
      await call('GetTaskStatus', { task_id })
      creates.push(created - begun)
      statuses.push(performance.now() - created)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const took = (performance.now() - started) / 1000
  client.close()
  return {
    callsPerSecond: (creates.length + statuses.length) / took,
    createP99: p99(creates),
    statusP99: p99(statuses),
  }
}

function p99(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}
