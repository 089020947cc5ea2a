import { spawn } from 'node:child_process'
import { AppError, ERRORS, isAppError, type Log, messageOf } from '../../kernel/index.ts'
import { OutputLines, progressOf } from './output-lines.ts'

const TAIL_CHARACTERS = 2_000
const LOGGED_LINES = 500
const KILL_GRACE_MS = 5_000
/** A server that shuts down has had its time. */
const SHUTDOWN_GRACE_MS = 1_000

export interface RunCommandOptions {
  command: [string, ...string[]]
  cwd: string
  /** None of the server's own: its environment holds secrets. */
  environment: Readonly<Record<string, string>>
  timeoutMs: number
  /** Aborting ends the command and everything that it started. */
  signal: AbortSignal
  log: Log
  onProgress(value: number): void
}

/**
 * Runs one command in a process group of its own and without a shell, until it ends by itself, takes too long or is told
 * to stop. Resolves when it ended well; the error of a bad end carries the tail of what it said on stderr.
 */
export async function runCommand(options: RunCommandOptions): Promise<void> {
  const { command, cwd, environment, timeoutMs, signal, log } = options
  signal.throwIfAborted()
  const [program, ...args] = command
  const child = spawn(program, args, {
    cwd,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let tail = ''
  let lines = 0
  const hear = (stream: 'stdout' | 'stderr') =>
    new OutputLines((line) => {
      const progress = progressOf(line)
      if (progress !== undefined) return options.onProgress(progress)
      if (stream === 'stderr') tail = `${tail}${line}\n`.slice(-TAIL_CHARACTERS)
      if (++lines <= LOGGED_LINES) log.info({ stream, line }, 'processor output')
      else if (lines === LOGGED_LINES + 1) log.info('processor output goes on, but is no longer logged')
    })
  const readers = { stdout: hear('stdout'), stderr: hear('stderr') }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => readers[name].write(chunk))
    child[name].on('end', () => readers[name].end())
  }
  const group = new ProcessGroup(child.pid)
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    group.end(KILL_GRACE_MS)
  }, timeoutMs)
  const onAbort = () =>
    group.end(isAppError(signal.reason, ERRORS.SHUTTING_DOWN) ? SHUTDOWN_GRACE_MS : KILL_GRACE_MS)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const ended = await new Promise<string | null>((resolve) => {
      child.once('error', (error) => resolve(messageOf(error)))
      child.once('close', (code, by) =>
        resolve(code === 0 ? null : by ? `ended by ${by}` : `exit code ${code}`),
      )
    })
    signal.throwIfAborted()
    if (timedOut) {
      const seconds = Math.round(timeoutMs / 1000)
      throw new AppError(ERRORS.PROCESSOR_TIMED_OUT, `took longer than ${seconds} s\n${tail}`.trim(), {
        retryable: false,
      })
    }
    if (ended !== null) throw new AppError(ERRORS.PROCESSOR_FAILED, `${ended}\n${tail}`.trim())
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    group.sweep()
  }
}

/** The command and whatever it started. */
class ProcessGroup {
  readonly #pid: number | undefined
  #forced: NodeJS.Timeout | undefined

  constructor(pid: number | undefined) {
    this.#pid = pid
  }

  /** Asks first, then insists. */
  end(graceMs: number): void {
    this.#kill('SIGTERM')
    this.#forced ??= setTimeout(() => this.#kill('SIGKILL'), graceMs)
  }

  /** The command is gone; so should its children be. */
  sweep(): void {
    clearTimeout(this.#forced)
    this.#kill('SIGKILL')
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#pid === undefined) return
    try {
      process.kill(-this.#pid, signal)
    } catch {
      // Nobody of the group is left.
    }
  }
}
