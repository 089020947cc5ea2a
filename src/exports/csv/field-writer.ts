import { isFormula } from '../sheet/index.ts'
import type { CsvDialect } from './dialect.ts'

/** Values as fields of a CSV file in a dialect. */
export class FieldWriter {
  /** Texts so far that look like formulas and got an apostrophe. */
  escaped = 0
  readonly #dialect: CsvDialect
  /** What a field may not hold without quotes. */
  readonly #special: RegExp

  constructor(dialect: CsvDialect) {
    this.#dialect = dialect
    this.#special = new RegExp(`["\\r\\n${dialect.delimiter.replace(/[\\\]^-]/, '\\$&')}]`)
  }

  /** Null, or a key that the row lacks. */
  get nothing(): string {
    return this.#dialect.quote === 'all' ? '""' : ''
  }

  text(value: string): string {
    const { quote, formulas } = this.#dialect
    const guarded = formulas === 'escape' && isFormula(value)
    if (guarded) this.escaped++
    const safe = guarded ? `'${value}` : value
    if (quote === 'minimal' && !this.#special.test(safe)) return safe
    return `"${safe.replaceAll('"', '""')}"`
  }

  /** A number or a boolean, as JSON has it. */
  plain(value: string): string {
    return this.#quoted(this.decimal(value))
  }

  decimal(number: string): string {
    return this.#dialect.decimal === '.' ? number : number.replace('.', this.#dialect.decimal)
  }

  record(fields: readonly string[]): string {
    const { delimiter, lineEnd } = this.#dialect
    // Some readers skip blank lines.
    return `${fields.join(delimiter) || '""'}${lineEnd}`
  }

  #quoted(value: string): string {
    return this.#dialect.quote === 'all' || this.#special.test(value) ? `"${value}"` : value
  }
}
