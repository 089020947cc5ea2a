import { AppError, CommandLine, ERRORS, type Log, runProcess } from '../../kernel/index.ts'

const TAIL_CHARACTERS = 2_000
const LOGGED_LINES = 500

/** What PROCESSOR_COMMAND is filled with. */
export type ProcessorCommand = CommandLine<'input' | 'output' | 'task_id'>

export function processorCommand(text: string): ProcessorCommand {
  return new CommandLine('PROCESSOR_COMMAND', text, ['input', 'output'])
}

export interface RunCommandOptions {
  command: [string, ...string[]]
  cwd: string
  environment: Readonly<Record<string, string>>
  timeoutMs: number
  signal: AbortSignal
  log: Log
  onProgress(value: number): void
  /** Everything else that it prints. */
  onOutput(stream: 'stdout' | 'stderr', line: string): void
}

/** Resolves when the command ended well; the error of a bad end carries the tail of what it said on stderr. */
export async function runCommand({
  log,
  onProgress,
  onOutput,
  ...options
}: RunCommandOptions): Promise<void> {
  let tail = ''
  let lines = 0
  const end = await runProcess({
    ...options,
    onLine(stream, line) {
      const progress = progressOf(line)
      if (progress !== undefined) return onProgress(progress)
      onOutput(stream, line)
      if (stream === 'stderr') tail = `${tail}${line}\n`.slice(-TAIL_CHARACTERS)
      if (++lines <= LOGGED_LINES) log.info({ stream, line }, 'processor output')
      else if (lines === LOGGED_LINES + 1) log.info('processor output goes on, but is no longer logged')
    },
  })
  if (end.how === 'timeout') {
    const seconds = Math.round(options.timeoutMs / 1000)
    throw new AppError(ERRORS.PROCESSOR_TIMED_OUT, `took longer than ${seconds} s\n${tail}`.trim(), {
      retryable: false,
    })
  }
  const ended = end.how === 'broken' ? end.reason : `exit code ${end.code}`
  if (end.how === 'broken' || end.code !== 0)
    throw new AppError(ERRORS.PROCESSOR_FAILED, `${ended}\n${tail}`.trim())
}

/** The value of a line `progress=0.42`, between 0 and 1; undefined for every other line. */
export function progressOf(line: string): number | undefined {
  const match = /^progress=\s*(\d*\.?\d+)\s*$/.exec(line.trim())
  if (!match) return undefined
  return Math.min(1, Number(match[1]))
}
