import { CLOSE_BRACE, COMMA, skipKey, skipSpace, skipString, skipValue } from './json-scan.ts'
import { MAX_KEYS, tooManyKeys } from './key-limit.ts'
import { KeyTable } from './key-table.ts'
import { fault } from './page-fault.ts'

/** The keys of rows in the order of first sight. Only a spelling that is new is made into a string. */
export class KeysSeen {
  readonly #names = new Set<string>()
  /** As the keys are written: with their escapes. */
  readonly #spellings = new KeyTable([])

  get names(): string[] {
    return [...this.#names]
  }

  /** Reads the row at `at`; returns where it ended. */
  readRow(input: Buffer, at: number): number {
    let p = skipSpace(input, at + 1)
    if (input[p] === CLOSE_BRACE) return p + 1
    for (let count = 1; ; count++) {
      if (count > MAX_KEYS) throw tooManyKeys()
      const value = skipKey(input, p)
      this.#see(input, p + 1, skipString(input, p) - 1)
      p = skipSpace(input, skipValue(input, value))
      if (input[p] === CLOSE_BRACE) return p + 1
      if (input[p] !== COMMA) fault('expected "," or "}"', p)
      p = skipSpace(input, p + 1)
    }
  }

  #see(input: Buffer, at: number, end: number): void {
    if (this.#spellings.find(input, at, end) >= 0) return
    const spelling = input.toString('utf8', at, end)
    if (this.#spellings.add(spelling) >= MAX_KEYS) throw tooManyKeys('its rows have', 'different keys')
    this.#names.add(String(JSON.parse(`"${spelling}"`)))
  }
}
