import { randomInt } from 'node:crypto'
import { BACKSLASH, QUOTE } from './json-scan.ts'

/** The key has an escape, or is invalid: it must be parsed. */
export const ESCAPED = -2

/** Unknown to a source, which could otherwise choose keys that are all looked for in the same place. */
const SEED = randomInt(2 ** 32) | 0
const FACTOR = randomInt(2 ** 31) * 2 + 1

/**
 * Finds which of a few known keys a run of bytes is, without making a string of it. Open addressing over a table that
 * is at most half full.
 */
export class KeyTable {
  readonly #keys: (Buffer | null)[]
  #slots = new Int32Array(0)
  #mask = 0
  /** Place of the closing quote of the key that `scan` found or did not know. */
  end = 0

  /** The index of a key is its place in `keys`, where null is a place that no key has; of equal keys the first counts. */
  constructor(keys: readonly (string | null)[]) {
    this.#keys = keys.map((key) => (key === null ? null : Buffer.from(key)))
    this.#rebuild()
  }

  /** One more key, with the next index. */
  add(key: string): number {
    const index = this.#keys.push(Buffer.from(key)) - 1
    if (this.#keys.length * 2 > this.#slots.length) this.#rebuild()
    else this.#insert(index)
    return index
  }

  /** Places that the most hidden key is looked for in. */
  get longestSearch(): number {
    let most = 0
    this.#slots.forEach((index, slot) => {
      if (index < 0) return
      const key = this.#keys[index]!
      most = Math.max(most, ((slot - placeOf(hashBytes(key, 0, key.length), this.#mask)) & this.#mask) + 1)
    })
    return most
  }

  #rebuild(): void {
    let size = 16
    while (size < this.#keys.length * 4) size *= 2
    this.#mask = size - 1
    this.#slots = new Int32Array(size).fill(-1)
    for (let index = 0; index < this.#keys.length; index++) this.#insert(index)
  }

  #insert(index: number): void {
    const key = this.#keys[index]!
    if (key === null || this.find(key, 0, key.length) >= 0) return
    let slot = placeOf(hashBytes(key, 0, key.length), this.#mask)
    while (this.#slots[slot]! >= 0) slot = (slot + 1) & this.#mask
    this.#slots[slot] = index
  }

  find(bytes: Uint8Array, at: number, end: number): number {
    return this.#lookup(hashBytes(bytes, at, end), bytes, at, end)
  }

  /** The key that starts at `at`, after its quote, read and looked up in one go: -1 when unknown, or ESCAPED. */
  scan(bytes: Uint8Array, at: number): number {
    let hash = SEED
    let p = at
    for (;;) {
      const byte = bytes[p]!
      if (byte === QUOTE) break
      if (byte === BACKSLASH || byte < 0x20) return ESCAPED
      hash = step(hash, byte)
      p++
    }
    this.end = p
    return this.#lookup(hash, bytes, at, p)
  }

  #lookup(hash: number, bytes: Uint8Array, at: number, end: number): number {
    let slot = placeOf(hash, this.#mask)
    for (;;) {
      const index = this.#slots[slot]!
      if (index < 0) return -1
      if (sameBytes(this.#keys[index]!, bytes, at, end)) return index
      slot = (slot + 1) & this.#mask
    }
  }
}

function hashBytes(bytes: Uint8Array, at: number, end: number): number {
  let hash = SEED
  for (let p = at; p < end; p++) hash = step(hash, bytes[p]!)
  return hash
}

/** Not linear in the bytes: no two stretches can be exchanged for one another whatever is around them. */
function step(hash: number, byte: number): number {
  const mixed = Math.imul(hash ^ byte, FACTOR)
  return mixed ^ (mixed >>> 15)
}

function placeOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask
}

function sameBytes(key: Uint8Array, bytes: Uint8Array, at: number, end: number): boolean {
  if (key.length !== end - at) return false
  for (let i = 0; i < key.length; i++) if (key[i] !== bytes[at + i]) return false
  return true
}
