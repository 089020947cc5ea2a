import { AppError, ERRORS } from '../errors.ts'

const WORD = /(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs

/**
 * A command as somebody would type it, in words: quotes and backslashes work as in a shell, nothing else does. There is no
 * shell, so a file name with blanks, quotes or `$(…)` in it is just a file name.
 */
export class CommandLine<Name extends string> {
  readonly #words: readonly string[]

  /** `setting` is where the text comes from; what `needs` names must be in it as `{name}`. */
  constructor(setting: string, text: string, needs: readonly Name[]) {
    const invalid = (reason: string) => new AppError(ERRORS.CONFIG_INVALID, `${setting} ${reason}`)
    const words = text.match(WORD) ?? []
    const leftOver = text.replace(WORD, '').trim()
    if (words.length === 0 || leftOver !== '') throw invalid('has a quote that is not closed')
    this.#words = words.map(unquote)
    for (const name of needs) {
      if (!this.#words.slice(1).some((word) => word.includes(`{${name}}`)))
        throw invalid(`must contain {${name}}`)
    }
  }

  /** The program and its arguments, with `{name}` replaced by its value. */
  fill(values: Readonly<Record<Name, string>>): [string, ...string[]] {
    const known: Readonly<Record<string, string>> = values
    const [program = '', ...args] = this.#words.map((word) =>
      word.replace(/\{(\w+)\}/g, (found, name: string) =>
        Object.hasOwn(known, name) ? (known[name] ?? found) : found,
      ),
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
