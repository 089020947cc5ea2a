import { readFile } from 'node:fs/promises'
import { inflateRawSync } from 'node:zlib'

const END = 0x06054b50
const ENTRY = 0x02014b50

/** The files of a small archive that Wharf has written: no zip64, no encryption. */
export async function readZip(path: string): Promise<Map<string, string>> {
  const bytes = await readFile(path)
  let end = bytes.length - 22
  while (end > 0 && bytes.readUInt32LE(end) !== END) end -= 1
  const files = new Map<string, string>()
  for (let at = bytes.readUInt32LE(end + 16); bytes.readUInt32LE(at) === ENTRY; ) {
    const [name, extra, comment] = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place))
    const local = bytes.readUInt32LE(at + 42)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20))
    const plain = bytes.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed
    files.set(bytes.toString('utf8', at + 46, at + 46 + name!), plain.toString())
    at += 46 + name! + extra! + comment!
  }
  return files
}
