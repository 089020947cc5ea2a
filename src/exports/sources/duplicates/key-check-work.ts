import { closeSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, ERRORS, openFileSync } from '../../../kernel/index.ts'
import type { Made } from '../../threads/index.ts'
import { PRINT_BYTES } from './print-log.ts'

/** Logs of row keys, see `RowKey`, in the order of the rows. */
export interface KeyCheckTask {
  logs: { path: string; rows: number; firstRow: number }[]
  pageSize: number
  /** Rows that are compared at once. */
  rowsPerPass?: number
}

export interface KeyCheck {
  /** Rows whose key an earlier row has. */
  repeats: number
  /** Those of them whose earlier row is on another page: as when rows move while they are read. */
  acrossPages: number
  /** Rows without a value in any key column. */
  keyless: number
  /** The first of them. Rows count from 0. */
  examples: { row: number; first: number }[]
}

const ROWS_PER_PASS = 2_500_000
const CHUNK = 1024 * 1024
const EXAMPLES = 3

/** In a thread that has other work too: it gets its turn after each chunk. */
export async function checkKeys(task: KeyCheckTask): Promise<Made<KeyCheck>> {
  const steps = repeatsOf(task)
  for (;;) {
    const step = steps.next()
    if (step.done) return { result: step.value }
    await nextTurn()
  }
}

export function findRepeats(task: KeyCheckTask): KeyCheck {
  const steps = repeatsOf(task)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/**
 * Finds repeated prints in memory that does not grow with the rows: a pass over the logs looks at those prints only that
 * are its own by their first word, and remembers these in a table (80 MB). Two million rows take one pass, 50 million 20.
 */
function* repeatsOf({
  logs,
  pageSize,
  rowsPerPass = ROWS_PER_PASS,
}: KeyCheckTask): Generator<void, KeyCheck> {
  const rows = logs.reduce((sum, log) => sum + log.rows, 0)
  const passes = Math.max(1, Math.ceil(rows / rowsPerPass))
  const table = new PrintTable(Math.ceil(rows / passes))
  // One for all passes: what is read makes no other garbage, so the collector would be in no hurry with one for each log.
  const chunk = new Uint32Array(CHUNK / 4)
  const found: KeyCheck = { repeats: 0, acrossPages: 0, keyless: 0, examples: [] }
  for (let pass = 0; pass < passes; pass++) {
    table.clear()
    const examples: KeyCheck['examples'] = []
    for (const log of logs)
      for (const { count, firstRow: chunkRow } of chunksOf(log, chunk)) {
        for (let n = 0; n < count; n++) {
          const a = chunk[n * 4]!
          if (passes > 1 && (a >>> 1) % passes !== pass) continue
          if (a === 0) {
            found.keyless++
            continue
          }
          const row = chunkRow + n
          const first = table.add(chunk, n * 4, row)
          if (first < 0) continue
          found.repeats++
          if (Math.floor(first / pageSize) !== Math.floor(row / pageSize)) found.acrossPages++
          if (examples.length < EXAMPLES) examples.push({ row, first })
        }
        yield
      }
    found.examples.push(...examples)
  }
  found.examples = found.examples.sort((a, b) => a.row - b.row).slice(0, EXAMPLES)
  return found
}

/** Prints with the row that each was first seen in. Open addressing; grows when chance gives a pass more than its share. */
class PrintTable {
  #mask = 0
  #words = new Uint32Array(0)
  /** Plus one; 0 is a free slot. */
  #rows = new Uint32Array(0)
  #used = 0

  constructor(expected: number) {
    let slots = 1_024
    while (slots < expected * 1.5) slots *= 2
    this.#allocate(slots)
  }

  clear(): void {
    this.#rows.fill(0)
    this.#used = 0
  }

  /** The row that has the print already, or -1. */
  add(words: Uint32Array, at: number, row: number): number {
    if (this.#used * 4 > this.#rows.length * 3) this.#grow()
    const mine = this.#words
    const a = words[at]!
    const b = words[at + 1]!
    const c = words[at + 2]!
    const d = words[at + 3]!
    for (let slot = b & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const known = this.#rows[slot]!
      const w = slot * 4
      if (known === 0) {
        mine[w] = a
        mine[w + 1] = b
        mine[w + 2] = c
        mine[w + 3] = d
        this.#rows[slot] = row + 1
        this.#used++
        return -1
      }
      if (mine[w] === a && mine[w + 1] === b && mine[w + 2] === c && mine[w + 3] === d) return known - 1
    }
  }

  #allocate(slots: number): void {
    this.#mask = slots - 1
    this.#words = new Uint32Array(slots * 4)
    this.#rows = new Uint32Array(slots)
    this.#used = 0
  }

  #grow(): void {
    const words = this.#words
    const rows = this.#rows
    this.#allocate(rows.length * 2)
    for (let slot = 0; slot < rows.length; slot++)
      if (rows[slot] !== 0) this.add(words, slot * 4, rows[slot]! - 1)
  }
}

/** The prints of a log, chunk by chunk in the same `words`. */
function* chunksOf(
  { path, rows, firstRow }: KeyCheckTask['logs'][number],
  words: Uint32Array,
): Generator<{ count: number; firstRow: number }> {
  if (rows === 0) return
  const bytes = new Uint8Array(words.buffer)
  const file = openFileSync(path)
  try {
    for (let row = 0; row < rows; ) {
      const wanted = Math.min(CHUNK, (rows - row) * PRINT_BYTES)
      let done = 0
      while (done < wanted) {
        const count = readSync(file, bytes, done, wanted - done, row * PRINT_BYTES + done)
        if (count === 0) throw new AppError(ERRORS.SPOOL_DAMAGED, 'a log of the spool is cut off')
        done += count
      }
      yield { count: wanted / PRINT_BYTES, firstRow: firstRow + row }
      row += wanted / PRINT_BYTES
    }
  } finally {
    closeSync(file)
  }
}
