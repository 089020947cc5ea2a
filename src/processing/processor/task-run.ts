import { randomUUID } from 'node:crypto'
import { readdir, rename } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { WaitingFor } from '../../jobs/index.ts'
import {
  AppError,
  backoffDelay,
  type Clock,
  clearAway,
  currentTraceparent,
  ERRORS,
  type FileAccess,
  type Log,
  openPlain,
  outageOf,
  removeTree,
  statPlain,
  systemClock,
} from '../../kernel/index.ts'
import { copyWhole, TaskLogWriter } from '../files/index.ts'
import { taskError } from '../task.ts'
import { type ProcessorCommand, runCommand } from './run-command.ts'

export interface TaskRunOptions {
  command: ProcessorCommand
  timeoutMs: number
  /** How often a command that failed is run again. */
  retries: number
  /** What the result is called, next to the original. */
  resultName: string
  /** Others share the results. */
  access: FileAccess
  /** All that the command sees of the environment. */
  environment: Readonly<Record<string, string>>
}

export interface RunOnceContext {
  taskId: string
  input: string
  signal: AbortSignal
  log: Log
  onProgress(value: number): void
  /** Asked before the result appears: a processor that lost the task must not show one. */
  stillMine(): Promise<boolean>
}

export interface TaskRunContext extends RunOnceContext {
  clock: Clock
  /** The task waits for a part of the installation. The next progress says that it is over. */
  onWaiting(waiting: WaitingFor): void
}

const UNFINISHED = '.unfinished-'

/** Runs the command for one task as often as it may fail, for a processor that has only Redis. Answers the path of the result. */
export async function runTask(context: TaskRunContext, options: TaskRunOptions): Promise<string> {
  const { signal, log, clock } = context
  let outages = 0
  let since: number | undefined
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(context, options)
    } catch (error) {
      signal.throwIfAborted()
      const outage = outageOf(error)
      if (outage) {
        // The disk is full or away, which is no failure of the command.
        log.warn({ err: error }, 'a task waits for the disk')
        const pause = backoffDelay(++outages)
        since ??= clock.now()
        context.onWaiting(waitingFor(outage, { since, nextTryAt: clock.now() + pause }))
        await clock.sleep(pause, signal)
        context.onProgress(0)
        attempt--
        continue
      }
      const again = attempt <= options.retries && !(error instanceof AppError && !error.retryable)
      log.warn({ err: error, attempt, again }, 'a processor command failed')
      if (!again) throw error
      await clock.sleep(backoffDelay(attempt), signal)
    }
  }
}

function waitingFor(
  { kind, code, message }: AppError,
  { since, nextTryAt }: { since: number; nextTryAt: number },
): WaitingFor {
  const iso = (at: number) => new Date(at).toISOString()
  return { what: kind.outage ?? 'disk', since: iso(since), code, message, next_try_at: iso(nextTryAt) }
}

/** Runs the command for one task. Answers the path of the result, which appears whole. */
export async function runOnce(
  context: RunOnceContext,
  options: Omit<TaskRunOptions, 'retries'>,
): Promise<string> {
  const { taskId, input, signal, log, onProgress } = context
  if (!(await statPlain(input).catch(() => undefined)))
    throw taskError(ERRORS.PROCESSOR_FAILED, 'inputGone', { retryable: false })
  const folder = dirname(input)
  await removeUnfinished(folder)
  // Keeps the extension: programs recognize the format by it.
  const output = join(folder, `${UNFINISHED}${randomUUID()}${extname(options.resultName)}`)
  const result = join(folder, options.resultName)
  const printed = await TaskLogWriter.open(folder, { access: options.access, clock: systemClock, log })
  try {
    const command = options.command.fill({ input, output, task_id: taskId })
    const { timeoutMs } = options
    const trace = currentTraceparent()
    const environment = { ...options.environment, ...(trace !== undefined && { TRACEPARENT: trace }) }
    const onOutput = printed.line.bind(printed)
    await runCommand({ command, environment, cwd: folder, timeoutMs, signal, log, onProgress, onOutput })
    await makeOwn(output, options.access)
    if (!(await context.stillMine()))
      throw new AppError(ERRORS.JOB_LEASE_LOST, `task ${taskId} was taken away`)
    await rename(output, result)
    return result
  } finally {
    await printed.close()
    await clearAway(output)
  }
}

/** Only a plain file is a result. One that has other names too becomes a copy: whoever uses those keeps their mode. */
async function makeOwn(output: string, access: FileAccess): Promise<void> {
  const file = await openPlain(output)
  if (!file) {
    throw new AppError(ERRORS.PROCESSOR_FAILED, 'the command ended well, but wrote no file to {output}', {
      retryable: false,
    })
  }
  try {
    if ((await file.stat()).nlink > 1) return await copyWhole(output, output, { access })
    await file.chmod(access.file)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** What a processor that was killed has left. A processor that merely lost the task loses its file here, too. */
async function removeUnfinished(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(UNFINISHED))
  for (const name of names) await removeTree(join(folder, name))
}
