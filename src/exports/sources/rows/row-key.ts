import type { PrintLog } from '../duplicates/print-log.ts'
import type { Memory } from '../json/index.ts'

const SMALL_N = 0x6e

/**
 * Notes where a row's key columns are in the page, and logs one print per row: a hash of 128 bits over their JSON. Four lanes,
 * each with its own multipliers and turns, so that what makes two keys collide in one does not in another. A row without any
 * of them has the print 0.
 */
export class RowKey {
  readonly columns: readonly string[]
  readonly #from: Int32Array
  readonly #to: Int32Array
  readonly #log: PrintLog
  #a = 0
  #b = 0
  #c = 0
  #d = 0

  constructor(columns: readonly string[], log: PrintLog) {
    this.columns = columns
    this.#log = log
    this.#from = new Int32Array(columns.length)
    this.#to = new Int32Array(columns.length)
  }

  startRow(): void {
    this.#from.fill(-1)
  }

  /** The value of key column `index` is the bytes `from` to `to` of the page. */
  found(index: number, from: number, to: number): void {
    this.#from[index] = from
    this.#to[index] = to
  }

  /** Whether the present row's value of key column `index` has been found. */
  has(index: number): boolean {
    return this.#from[index]! >= 0
  }

  endRow({ bytes, view }: Memory): void {
    let found = false
    this.#a = 0x9e3779b9
    this.#b = 0x7f4a7c15
    this.#c = 0x85ebca6b
    this.#d = 0xc2b2ae35
    for (let index = 0; index < this.#from.length; index++) {
      const from = this.#from[index]!
      // A key that is not there and null are the same: no value.
      if (from < 0 || bytes[from] === SMALL_N) this.#mix(-1)
      else {
        found = true
        this.#value(bytes, view, from, this.#to[index]!)
      }
    }
    if (!found) this.#log.push(0, 0, 0, 0)
    else this.#finish()
  }

  #value(bytes: Uint8Array, view: DataView, from: number, to: number): void {
    let p = from
    for (; p + 4 <= to; p += 4) this.#mix(view.getInt32(p, true))
    let rest = 0
    for (; p < to; p++) rest = (rest << 8) | bytes[p]!
    this.#mix(rest)
    this.#mix(to - from)
  }

  #mix(word: number): void {
    let k = Math.imul(word, 0x239b961b)
    this.#a = (turned(this.#a ^ Math.imul((k << 15) | (k >>> 17), 0xab0e9789), 19) + 0x561ccd1b) | 0
    k = Math.imul(word, 0xab0e9789)
    this.#b = (turned(this.#b ^ Math.imul((k << 16) | (k >>> 16), 0x38b34ae5), 17) + 0x0bcaa747) | 0
    k = Math.imul(word, 0x38b34ae5)
    this.#c = (turned(this.#c ^ Math.imul((k << 17) | (k >>> 15), 0xa1e38b93), 15) + 0x96cd1c35) | 0
    k = Math.imul(word, 0xa1e38b93)
    this.#d = (turned(this.#d ^ Math.imul((k << 18) | (k >>> 14), 0x239b961b), 13) + 0x32ac3b17) | 0
  }

  #finish(): void {
    const sum = (this.#a + this.#b + this.#c + this.#d) | 0
    // Each lane by itself, then with the others: a print of four zeros stays the sign of a row without key.
    this.#log.push(
      spread(this.#a + sum) | 1,
      spread(this.#b + sum),
      spread(this.#c + sum),
      spread(this.#d + sum),
    )
  }
}

function turned(value: number, by: number): number {
  return Math.imul((value << by) | (value >>> (32 - by)), 5)
}

function spread(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
