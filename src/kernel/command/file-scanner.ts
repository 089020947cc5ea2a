import { dirname } from 'node:path'
import { AppError, ERRORS } from '../errors.ts'
import type { Log } from '../log.ts'
import { Turns } from '../turns.ts'
import { CommandLine } from './command-line.ts'
import { runProcess } from './run-process.ts'

export interface FileScannerOptions {
  /** SCAN_COMMAND, with `{file}`. */
  command: string
  timeoutMs: number
  /** Scans at once. */
  concurrency: number
  environment: Readonly<Record<string, string>>
}

const REFUSED = 1
const LOGGED_LINES = 20
const RETRY_SECONDS = 10

/**
 * Runs SCAN_COMMAND on a file before anybody can see it. The exit code decides, as virus scanners have it: 0 lets the file in, 1
 * refuses it. With any other code nothing is known of the file, which is an outage: nothing is let in meanwhile.
 */
export class FileScanner {
  readonly #log: Log
  readonly #options: FileScannerOptions
  readonly #command: CommandLine<'file'>
  readonly #turns: Turns

  constructor(log: Log, options: FileScannerOptions) {
    this.#log = log
    this.#options = options
    this.#command = new CommandLine('SCAN_COMMAND', options.command, ['file'])
    this.#turns = new Turns(options.concurrency)
  }

  /** Resolves when the file may be let in. */
  async scan(path: string, signal: AbortSignal = new AbortController().signal): Promise<void> {
    const { timeoutMs, environment } = this.#options
    const said: string[] = []
    const end = await this.#turns.run(signal, () =>
      runProcess({
        command: this.#command.fill({ file: path }),
        cwd: dirname(path),
        environment,
        timeoutMs,
        signal,
        onLine: (_stream, line) => {
          if (said.length < LOGGED_LINES) said.push(line)
        },
      }),
    )
    if (end.how === 'exit' && end.code === 0) return
    // What the scanner says may name folders of the server, so it is for the log alone.
    this.#log.warn({ path, end, said }, 'SCAN_COMMAND does not let a file in')
    if (end.how === 'timeout') {
      const seconds = Math.round(timeoutMs / 1000)
      throw new AppError(ERRORS.SCAN_TIMED_OUT, `the scan of the file did not end within ${seconds} s`, {
        retryable: false,
      })
    }
    if (end.how === 'exit' && end.code === REFUSED)
      throw new AppError(ERRORS.FILE_REFUSED, 'the malware scan refuses this file', { retryable: false })
    const reason = end.how === 'exit' ? `exit code ${end.code}` : end.reason
    throw new AppError(ERRORS.SCANNER_UNAVAILABLE, `SCAN_COMMAND did not work: ${reason}`, {
      retryAfter: RETRY_SECONDS,
    })
  }
}
