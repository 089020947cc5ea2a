import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** Rows of a bench spool for the peers, who take values. The bench's texts hold no line breaks. */
export async function* readSpool(path: string): AsyncGenerator<(string | number)[]> {
  for await (const line of createInterface({ input: createReadStream(path, { highWaterMark: 1 << 20 }) })) {
    yield parseRecord(line)
  }
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
