/**
 * The records of a zip archive. A size or offset from `limit` on is in a zip64 field, and the usual one says so by being
 * full; a directory that is too large for the usual record gets a second one before it.
 */
export interface ZipEntry {
  name: string
  offset: number
  method: 0 | 8
  crc: number
  compressed: number
  size: number
  /** Its local header has room for 64-bit sizes. */
  large: boolean
}

/** From here on 32 bits do not hold a size or offset: they are all set for "see zip64". */
export const ZIP_LIMIT = 0xffff_ffff
const MAX_ENTRIES = 0xffff

/** 1980-01-01: the same input has to give the same bytes, so no archive carries the time of its making. */
const DOS_DATE = 0x21
const UTF8_NAMES = 0x0800
const VERSION = 20
const ZIP64_VERSION = 45
const ZIP64 = 1
/** As if made on Unix: unzip takes names from elsewhere for those of DOS, whatever the flag for UTF-8 says. */
const UNIX = 3 << 8
const READABLE_FILE = 0o100644

/** In a large entry both sizes are of 64 bits: readers ask for the pair. */
export function localHeader(entry: ZipEntry): Buffer {
  const { size, compressed, large } = entry
  const extra = large ? zip64Field([size, compressed]) : Buffer.alloc(0)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  const sizes = large ? { size: ZIP_LIMIT, compressed: ZIP_LIMIT } : { size, compressed }
  return Buffer.concat([withCommon(header, 4, { ...entry, ...sizes }, extra), Buffer.from(entry.name), extra])
}

export function centralHeader(entry: ZipEntry, limit = ZIP_LIMIT): Buffer {
  const wide: number[] = []
  /** What fits 32 bits. In the field of 64-bit values they follow one another in this order. */
  const narrow = (value: number, isLarge: boolean) => {
    if (!isLarge) return value
    wide.push(value)
    return ZIP_LIMIT
  }
  const size = narrow(entry.size, entry.large)
  const compressed = narrow(entry.compressed, entry.large)
  const offset = narrow(entry.offset, entry.offset >= limit)
  const extra = wide.length > 0 ? zip64Field(wide) : Buffer.alloc(0)
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE((extra.length > 0 ? ZIP64_VERSION : VERSION) | UNIX, 4)
  header.writeUInt16LE(READABLE_FILE, 40)
  header.writeUInt32LE(offset, 42)
  return Buffer.concat([
    withCommon(header, 6, { ...entry, size, compressed }, extra),
    Buffer.from(entry.name),
    extra,
  ])
}

export interface ZipDirectory {
  entries: number
  bytes: number
  offset: number
}

export function endOfDirectory({ entries, bytes, offset }: ZipDirectory, limit = ZIP_LIMIT): Buffer {
  const large = entries >= MAX_ENTRIES || bytes >= limit || offset >= limit
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(large ? MAX_ENTRIES : entries, 8)
  record.writeUInt16LE(large ? MAX_ENTRIES : entries, 10)
  record.writeUInt32LE(large ? ZIP_LIMIT : bytes, 12)
  record.writeUInt32LE(large ? ZIP_LIMIT : offset, 16)
  return large ? Buffer.concat([largeEnd({ entries, bytes, offset }), record]) : record
}

/** The record of 64-bit values, and the one by which it is found. */
function largeEnd({ entries, bytes, offset }: ZipDirectory): Buffer {
  const record = Buffer.alloc(56 + 20)
  record.writeUInt32LE(0x06064b50, 0)
  record.writeBigUInt64LE(44n, 4)
  record.writeUInt16LE(ZIP64_VERSION, 12)
  record.writeUInt16LE(ZIP64_VERSION, 14)
  record.writeBigUInt64LE(BigInt(entries), 24)
  record.writeBigUInt64LE(BigInt(entries), 32)
  record.writeBigUInt64LE(BigInt(bytes), 40)
  record.writeBigUInt64LE(BigInt(offset), 48)
  record.writeUInt32LE(0x07064b50, 56)
  record.writeBigUInt64LE(BigInt(offset + bytes), 56 + 8)
  record.writeUInt32LE(1, 56 + 16)
  return record
}

function zip64Field(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length)
  field.writeUInt16LE(ZIP64, 0)
  field.writeUInt16LE(8 * values.length, 2)
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index)
  return field
}

/** The 26 bytes that local and central header share. */
function withCommon(header: Buffer, at: number, entry: ZipEntry, extra: Buffer): Buffer {
  header.writeUInt16LE(extra.length > 0 ? ZIP64_VERSION : VERSION, at)
  header.writeUInt16LE(UTF8_NAMES, at + 2)
  header.writeUInt16LE(entry.method, at + 4)
  header.writeUInt16LE(0, at + 6)
  header.writeUInt16LE(DOS_DATE, at + 8)
  header.writeUInt32LE(entry.crc >>> 0, at + 10)
  header.writeUInt32LE(entry.compressed, at + 14)
  header.writeUInt32LE(entry.size, at + 18)
  header.writeUInt16LE(Buffer.byteLength(entry.name), at + 22)
  header.writeUInt16LE(extra.length, at + 24)
  return header
}
