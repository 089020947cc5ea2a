import { hash } from 'node:crypto'
import { PRINT_BYTES } from './print-log.ts'

export type Print = [number, number, number, number]

/** Equal for equal bytes, and for no others. */
export function printOf(bytes: Uint8Array): Print {
  const digest = hash('sha256', bytes, 'buffer')
  return [0, 4, 8, 12].map((at) => digest.readUInt32LE(at)) as Print
}

/** For a page that is not compared. */
export const NO_PRINT: Print = [0, 0, 0, 0]

/** The pages of a fetch by what they hold. Its memory is that of the prints twice, whatever the pages have. */
export class PagePrints {
  #words = new Uint32Array(0)
  /** By slot: the page's number, plus one. */
  #pages = new Uint32Array(0)
  #mask = 0
  #count = 0

  /** With room for N pages; more make it grow. */
  constructor(pages: number) {
    this.#makeRoom(pages)
  }

  #makeRoom(pages: number): void {
    const [words, numbers] = [this.#words, this.#pages]
    let slots = 16
    while (slots < pages * 2) slots *= 2
    this.#mask = slots - 1
    this.#words = new Uint32Array(slots * 4)
    this.#pages = new Uint32Array(slots)
    this.#count = 0
    numbers.forEach((number, slot) => {
      if (number > 0) this.add(number - 1, [...words.subarray(slot * 4, slot * 4 + 4)] as Print)
    })
  }

  /** The page that has the same print, or undefined, and then this one is noted. */
  add(page: number, print: Print): number | undefined {
    if (print.every((word) => word === 0)) return undefined
    if (this.#count * 2 > this.#mask) this.#makeRoom(this.#count * 2)
    for (let slot = print[0] & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const known = this.#pages[slot]!
      if (known === 0) {
        this.#words.set(print, slot * 4)
        this.#pages[slot] = page + 1
        this.#count++
        return undefined
      }
      if (print.every((word, n) => this.#words[slot * 4 + n] === word)) return known - 1
    }
  }

  /** Pages of an earlier fetch, from the bytes of its log. Returns how many of them repeat another. */
  addAll(firstPage: number, log: Buffer): number {
    let repeated = 0
    for (let at = 0; at < log.length; at += PRINT_BYTES) {
      const print = [0, 4, 8, 12].map((n) => log.readUInt32LE(at + n)) as Print
      if (this.add(firstPage + at / PRINT_BYTES, print) !== undefined) repeated++
    }
    return repeated
  }
}
