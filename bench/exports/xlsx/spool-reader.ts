import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

const CHUNK = 1 << 20

/** Rows of a bench spool for the peers, who take values. The bench's texts hold no line breaks. */
export function* readSpool(path: string): Generator<(string | number)[]> {
  const file = openSync(path, 'r')
  const decoder = new StringDecoder('utf8')
  const buffer = Buffer.alloc(CHUNK)
  let rest = ''
  for (let count = readSync(file, buffer); count > 0; count = readSync(file, buffer)) {
    const text = rest + decoder.write(buffer.subarray(0, count))
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield parseRecord(text.slice(start, end))
      start = end + 1
    }
    rest = text.slice(start)
  }
  closeSync(file)
}

function parseRecord(line: string): (string | number)[] {
  const values: (string | number)[] = []
  for (let at = 0; at <= line.length; ) {
    if (line.charCodeAt(at) !== 34) {
      const comma = line.indexOf(',', at)
      const end = comma === -1 ? line.length : comma
      values.push(Number(line.slice(at, end)))
      at = end + 1
      continue
    }
    let end = line.indexOf('"', at + 1)
    let doubled = false
    while (line.charCodeAt(end + 1) === 34) {
      doubled = true
      end = line.indexOf('"', end + 2)
    }
    const text = line.slice(at + 1, end)
    values.push(doubled ? text.replaceAll('""', '"') : text)
    at = end + 2
  }
  return values
}
