/** A spool value as it was typed: numbers keep their digits. */
export type SpoolValue = { string: string } | { bare: string }

/** A second, plain reader of the format in SPOOL.md, so that the transcoder is not its own judge. */
export function readSpool(text: string): SpoolValue[][] {
  const rows: SpoolValue[][] = []
  let row: SpoolValue[] = []
  let at = 0
  while (at < text.length) {
    if (text[at] === '"') {
      let value = ''
      for (at++; !(text[at] === '"' && text[at + 1] !== '"'); at++) {
        if (at >= text.length) throw new Error('a string is not closed')
        if (text[at] === '"') at++
        value += text[at]
      }
      at++
      row.push({ string: value })
    } else {
      const start = at
      while (text[at] !== ',' && text[at] !== '\n') {
        if (at >= text.length) throw new Error('the last record has no end')
        at++
      }
      row.push({ bare: text.slice(start, at) })
    }
    if (text[at] === '\n') {
      rows.push(row)
      row = []
    } else if (text[at] !== ',') throw new Error(`unexpected ${text[at]} at ${at}`)
    else if (text[at + 1] === '\n') {
      row.push({ bare: '' })
      rows.push(row)
      row = []
      at++
    }
    at++
  }
  return rows
}

/** What a JSON value must be in the spool. */
export function expectedValue(value: unknown): SpoolValue {
  if (value === undefined) return { bare: '' }
  if (typeof value === 'string') return { string: value.toWellFormed() }
  if (typeof value === 'object' && value !== null) return { string: JSON.stringify(value) }
  return { bare: JSON.stringify(value) }
}
