import type { PickVariant } from './condition-styles.ts'

const SLOTS = 1024
const LONGEST = 48

/**
 * Picks a column's variant for texts, and remembers what was picked: a column with conditions most often holds few
 * different texts (a status, a kind), and those are then looked up by their bytes, without a string being made.
 */
export class TextVariants {
  readonly pick: PickVariant
  readonly #keys = new Uint8Array(SLOTS * LONGEST)
  readonly #lengths = new Uint8Array(SLOTS)
  readonly #variants = new Uint16Array(SLOTS)

  constructor(pick: PickVariant) {
    this.pick = pick
  }

  /** For the raw bytes of a spool text, its quotes left out, and the date that it is in a date column. */
  forBytes(input: Buffer, start: number, end: number, date?: number): number {
    const length = end - start
    if (length === 0 || length > LONGEST) return this.pick(readText(input, start, end), date)
    let hash = 0x811c9dc5
    for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ input[i]!, 0x01000193)
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
    if (this.#holds(slot, input, start, length)) return this.#variants[slot]!
    const variant = this.pick(readText(input, start, end), date)
    this.#keys.set(input.subarray(start, end), slot * LONGEST)
    this.#lengths[slot] = length
    this.#variants[slot] = variant
    return variant
  }

  #holds(slot: number, input: Buffer, start: number, length: number): boolean {
    if (this.#lengths[slot] !== length) return false
    const keys = this.#keys
    const base = slot * LONGEST
    for (let n = 0; n < length; n += 1) if (keys[base + n] !== input[start + n]) return false
    return true
  }
}

export function readText(input: Buffer, start: number, end: number): string {
  const text = input.toString('utf8', start, end)
  return text.includes('"') ? text.replaceAll('""', '"') : text
}
