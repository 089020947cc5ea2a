import type { CsvDialect } from './dialect.ts'

/** The records of a file that Wharf has written, as texts. For small files. */
export function readCsv(bytes: Uint8Array, { delimiter, encoding }: CsvDialect): string[][] {
  const text = new TextDecoder(encoding).decode(bytes)
  const records: string[][] = []
  let record: string[] = []
  for (let at = 0; at < text.length; ) {
    const quoted = text[at] === '"'
    const end = quoted ? closingQuote(text, at + 1) : endOfPlain(text, at, delimiter)
    record.push(quoted ? text.slice(at + 1, end).replaceAll('""', '"') : text.slice(at, end))
    at = quoted ? end + 1 : end
    if (text[at] === delimiter) {
      at += 1
      if (at < text.length && text[at] !== '\r' && text[at] !== '\n') continue
      record.push('')
    }
    at += text.startsWith('\r\n', at) ? 2 : 1
    records.push(record)
    record = []
  }
  return records
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at < 0 ? text.length : at
}

function endOfPlain(text: string, from: number, delimiter: string): number {
  let at = from
  while (at < text.length && text[at] !== delimiter && text[at] !== '\r' && text[at] !== '\n') at += 1
  return at
}
