import { EMPTY, NULL, type RecordReader, TRUE } from '../records/index.ts'
import type { ColumnKind } from './column-kind.ts'
import { readTime } from './read-time.ts'

export type Value = Uint8Array | boolean | bigint | number | null

const DAY_MICROS = 86_400_000_000n

/** The reader's field as a value of its column, which has been found to hold nothing else. */
export function parquetValue(kind: ColumnKind, reader: RecordReader): Value {
  if (reader.kind === EMPTY || reader.kind === NULL) return null
  switch (kind.is) {
    case 'text':
    case 'json':
      return reader.value()
    case 'boolean':
      return reader.kind === TRUE || (reader.bytes[reader.start]! | 0x20) === 0x74
    case 'int64':
      return BigInt(digitsOf(reader))
    case 'double':
      return Number(digitsOf(reader))
    case 'decimal':
      return unscaled(digitsOf(reader), kind.scale)
    case 'date':
      return Number(microsOf(reader) / DAY_MICROS - (microsOf(reader) % DAY_MICROS < 0n ? 1n : 0n))
    case 'timestamp':
      return microsOf(reader)
  }
}

function digitsOf({ bytes, start, end }: RecordReader): string {
  return bytes.toString('latin1', start, end)
}

function microsOf(reader: RecordReader): bigint {
  return readTime(digitsOf(reader))!.micros
}

/** `-1.5` with scale 3 is -1500. */
function unscaled(digits: string, scale: number): bigint {
  const [whole = '', fraction = ''] = digits.split('.')
  return BigInt(`${whole}${fraction.padEnd(scale, '0')}`)
}
