/** The three records of a zip archive, without zip64: every size and offset is below 4 GiB. */
export interface ZipEntry {
  name: string
  offset: number
  method: 0 | 8
  crc: number
  compressed: number
  size: number
}

export const ZIP_LIMIT = 0xffff_ffff
export const ZIP_MAX_ENTRIES = 0xffff

/** 1980-01-01: the same input has to give the same bytes, so no archive carries the time of its making. */
const DOS_DATE = 0x21
const UTF8_NAMES = 0x0800
const VERSION = 20

export function localHeader(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.name)
  const header = Buffer.alloc(30 + name.length)
  header.writeUInt32LE(0x04034b50, 0)
  writeCommon(header, 4, entry, name.length)
  name.copy(header, 30)
  return header
}

export function centralHeader(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.name)
  const header = Buffer.alloc(46 + name.length)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(VERSION, 4)
  writeCommon(header, 6, entry, name.length)
  header.writeUInt32LE(entry.offset, 42)
  name.copy(header, 46)
  return header
}

export function endOfDirectory(entries: number, directoryBytes: number, directoryOffset: number): Buffer {
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(entries, 8)
  record.writeUInt16LE(entries, 10)
  record.writeUInt32LE(directoryBytes, 12)
  record.writeUInt32LE(directoryOffset, 16)
  return record
}

/** The 26 bytes that local and central header share. */
function writeCommon(header: Buffer, at: number, entry: ZipEntry, nameLength: number): void {
  header.writeUInt16LE(VERSION, at)
  header.writeUInt16LE(UTF8_NAMES, at + 2)
  header.writeUInt16LE(entry.method, at + 4)
  header.writeUInt16LE(0, at + 6)
  header.writeUInt16LE(DOS_DATE, at + 8)
  header.writeUInt32LE(entry.crc >>> 0, at + 10)
  header.writeUInt32LE(entry.compressed, at + 14)
  header.writeUInt32LE(entry.size, at + 18)
  header.writeUInt16LE(nameLength, at + 22)
}
