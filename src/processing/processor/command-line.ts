import { AppError, ERRORS } from '../../kernel/index.ts'

const WORD = /(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs

/**
 * A command as somebody would type it, in words: quotes and backslashes work as in a shell, nothing else does. There is no
 * shell, so a file name with blanks, quotes or `$(…)` in it is just a file name.
 */
export class CommandLine {
  readonly #words: readonly string[]

  constructor(text: string) {
    const words = text.match(WORD) ?? []
    const leftOver = text.replace(WORD, '').trim()
    if (words.length === 0 || leftOver !== '') throw invalid('has a quote that is not closed')
    this.#words = words.map(unquote)
    for (const part of ['{input}', '{output}']) {
      if (!this.#words.slice(1).some((word) => word.includes(part))) throw invalid(`must contain ${part}`)
    }
  }

  /** The program and its arguments for one task. */
  fill(values: { input: string; output: string; task_id: string }): [string, ...string[]] {
    const [program = '', ...args] = this.#words.map((word) =>
      word.replace(/\{(input|output|task_id)\}/g, (_, name: keyof typeof values) => values[name]),
    )
    return [program, ...args]
  }
}

function unquote(word: string): string {
  return word.replace(
    /\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
    (_, escaped?: string, double?: string, single?: string) =>
      escaped ?? double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? '',
  )
}

function invalid(reason: string): AppError {
  return new AppError(ERRORS.CONFIG_INVALID, `PROCESSOR_COMMAND ${reason}`)
}
