import { EMPTY, NULL, type RecordReader, TEXT, TRUE } from '../records/index.ts'
import type { Timezone } from '../sheet/index.ts'
import type { ColumnKind } from './column-kind.ts'
import { unscaledOf } from './column-scan.ts'
import { type ReadTime, readTime } from './read-time.ts'

export type Value = Uint8Array | boolean | bigint | number | null

const DAY = 86_400_000

/** The reader's field as a value of its column, which has been found to hold nothing else. */
export function parquetValue(kind: ColumnKind, reader: RecordReader, zone: Timezone): Value {
  if (reader.kind === EMPTY || reader.kind === NULL) return null
  // Nothing to read, where there is to be a number or a date.
  if (reader.kind === TEXT && reader.start === reader.end && kind.is !== 'text') return null
  switch (kind.is) {
    case 'text':
    case 'json':
      return reader.value()
    case 'boolean':
      return reader.kind === TRUE || (reader.bytes[reader.start]! | 0x20) === 0x74
    case 'int64':
      return integerOf(digitsOf(reader))
    case 'double':
      return Number(digitsOf(reader))
    case 'decimal':
      return unscaled(digitsOf(reader), kind.scale)
    case 'date':
      return dayOf(readTime(digitsOf(reader))!, zone)
    case 'timestamp':
      return readTime(digitsOf(reader))!.micros
  }
}

function digitsOf({ bytes, start, end }: RecordReader): string {
  return bytes.toString('latin1', start, end)
}

/** Days since 1970; of an instant on the zone's calendar. */
function dayOf({ micros, zoned }: ReadTime, zone: Timezone): number {
  const millis = Number(micros / 1_000n) - (micros % 1_000n < 0n ? 1 : 0)
  return Math.floor((zoned ? zone.wallClock(millis) : millis) / DAY)
}

function integerOf(text: string): bigint {
  return /^-?\d+$/.test(text) ? BigInt(text) : unscaled(text, 0)
}

/** `-1.5` with scale 3 is -1500. */
function unscaled(text: string, scale: number): bigint {
  const { digits, scale: own } = unscaledOf(text)
  return BigInt(`${text.startsWith('-') ? '-' : ''}${digits}${'0'.repeat(scale - own)}`)
}
