import { COLUMNS, MARK_WORDS, MARKS, OPENINGS, XML_VIEW } from './row-buffer.ts'
import { MAX_DISTANCE, MAX_LENGTH, MIN_LENGTH } from './symbols.ts'
import { LITERALS_ALONE, TOKENS } from './tokens.ts'

// What is imported is looked up at each use, and a constant of this file is not.
const columns = COLUMNS
const openings = OPENINGS
const markWords = MARK_WORDS
const shortest = MIN_LENGTH
const longest = MAX_LENGTH
const farthest = MAX_DISTANCE
const alone = LITERALS_ALONE
const view = XML_VIEW
const marks = MARKS
const words = TOKENS

/** Shorter ones cost about as many bits as their literals do. */
const WORTHWHILE = 4
/** A value's match reaches farther back than markup's, so it has to be longer. */
const WORTHWHILE_VALUE = 5
/** What is left of a row number after its first digits. */
const LAST_DIGITS = 8
/** So far before the begin that it is out of reach from everywhere. */
const NOWHERE = -(1 << 24)

/** By column: where the markup before its latest cell begins, and the place after that cell's row number. */
const leads = new Int32Array(COLUMNS)
const numberEnds = new Int32Array(COLUMNS)
/** By opening: the place after the row number of the latest cell with it. */
const openingStarts = new Int32Array(OPENINGS)
/** By column and first four bytes of a value, hashed: where the latest such value begins. */
const HASH_BITS = 12
const values = new Int32Array(1 << HASH_BITS)
/** By column: as long as it is above zero values are looked up. What is found raises it, what is not lowers it. */
const budgets = new Int32Array(COLUMNS)
const FIRST_BUDGET = 32
const BUDGET_PER_MATCH = 4

/**
 * Finds matches in rows without searching for them, for the first `end` bytes and with `marked` words of marks. A cell's
 * markup is that of the row before; where that differs, in the row number, markup of the same row has the right one; and a
 * value is looked for among those of its column that begin with the same four bytes. Whatever is tried is compared byte by
 * byte. Gives the number of tokens; the bytes after the last one are literals.
 */
export function matchRows(end: number, marked: number): number {
  leads.fill(NOWHERE)
  numberEnds.fill(NOWHERE)
  openingStarts.fill(NOWHERE)
  values.fill(NOWHERE)
  budgets.fill(FIRST_BUDGET)
  let count = 0
  let done = 0
  let previous = NOWHERE
  for (let m = 0; m < marked; m = (m + markWords) | 0) {
    const lead = marks[m]!
    const numberEnd = marks[m + 1]!
    const value = marks[m + 2]!
    const column = (marks[m + 3]! >>> 8) & (columns - 1)
    const opening = marks[m + 3]! & (openings - 1)

    // The markup before the row number, most of that, and the end of the value before if it is that of the row before.
    if (done < numberEnd) {
      let at = Math.max(done, lead)
      let from = (leads[column]! + at - lead) | 0
      let length = (numberEnd - 1 - at) | 0
      if (!isSame(from, at, length)) {
        length = matchLength(from, at, end)
        if (length < WORTHWHILE) {
          from = (previous + at - lead) | 0
          length = matchLength(from, at, end)
        }
      }
      if (length >= WORTHWHILE) {
        while (
          at > done &&
          from > 0 &&
          length < longest &&
          view.getUint8(at - 1) === view.getUint8(from - 1)
        ) {
          at = (at - 1) | 0
          from = (from - 1) | 0
          length = (length + 1) | 0
        }
        count = put(count, (at - done) | 0, length, (at - from) | 0)
        done = (at + length) | 0
      }
    }

    // What is left of the row number, and the markup after it.
    if (done < value) {
      let at = numberEnd - done > LAST_DIGITS ? numberEnd : done
      let from = (openingStarts[opening]! + at - numberEnd) | 0
      let length = (value - at) | 0
      if (!isSame(from, at, length)) {
        at = Math.max(done, numberEnd)
        from = (numberEnds[column]! + at - numberEnd) | 0
        length = matchLength(from, at, end)
        if (length < value - at) {
          const other = (openingStarts[opening]! + at - numberEnd) | 0
          const otherLength = matchLength(other, at, end)
          if (otherLength > length) {
            from = other
            length = otherLength
          }
        }
      }
      if (length >= WORTHWHILE) {
        count = put(count, (at - done) | 0, length, (at - from) | 0)
        done = (at + length) | 0
      }
    }

    if (budgets[column]! > 0) {
      const next = m + markWords < marked ? marks[m + markWords]! : end
      const at = Math.max(done, value)
      if (next - at >= WORTHWHILE_VALUE) {
        const hash = Math.imul((view.getInt32(value, true) + column) | 0, 0x9e3779b1) >>> (32 - HASH_BITS)
        const from = (values[hash]! + at - value) | 0
        const length = matchLength(from, at, end)
        const found = length >= WORTHWHILE_VALUE
        values[hash] = value
        budgets[column] = (budgets[column]! + (found ? BUDGET_PER_MATCH : -1)) | 0
        if (found) {
          count = put(count, (at - done) | 0, length, (at - from) | 0)
          done = (at + length) | 0
        }
      }
    }
    leads[column] = lead
    numberEnds[column] = numberEnd
    openingStarts[opening] = numberEnd
    previous = lead
  }
  return count
}

/** Adds a token with N literals before its match. Gives the number of tokens. */
function put(count: number, literals: number, length: number, distance: number): number {
  const stretches = literals < alone ? 0 : Math.floor(literals / alone)
  if (stretches > 0) words.fill(alone << 23, count, count + stretches)
  const place = (count + stretches) | 0
  words[place] = ((literals - stretches * alone) << 23) | ((length - shortest) << 15) | (distance - 1)
  return (place + 1) | 0
}

function inReach(from: number, at: number): boolean {
  return from >= 0 && from < at && at - from <= farthest
}

/** Whether `length` bytes at `from` are those at `at`, and a match for them may be had and is worth it. */
function isSame(from: number, at: number, length: number): boolean {
  if (length < WORTHWHILE || length > longest || !inReach(from, at)) return false
  const last = length - 4
  for (let n = 0; n < last; n += 4)
    if (view.getInt32(from + n, true) !== view.getInt32(at + n, true)) return false
  return view.getInt32(from + last, true) === view.getInt32(at + last, true)
}

/** How many bytes at `from` and `at` are alike. */
function matchLength(from: number, at: number, end: number): number {
  if (!inReach(from, at)) return 0
  const most = Math.min(longest, (end - at) | 0)
  for (let n = 0; n < most; n += 4) {
    const differing = view.getInt32(from + n, true) ^ view.getInt32(at + n, true)
    if (differing !== 0) return Math.min(most, n + ((31 - Math.clz32(differing & -differing)) >>> 3))
  }
  return most
}
