import { eachElement, eachMember, OPEN_BRACE, skipValue } from '../json/index.ts'
import { startOfPage } from './envelope.ts'
import type { TextPage } from './row-feed.ts'

/** The first rows of a page as `{"data":…}`, byte for byte; rows of row headers stay with theirs. */
export function cutPage(
  input: Buffer,
  end: number,
  { wrapped, most }: { wrapped: boolean; most: number },
): TextPage {
  const start = memberOf(input, startOfPage(input, end, 0), 'data')
  const data = wrapped ? memberOf(input, start, 'data') : start
  let rows = 0
  const list = (at: number, into: (text: string) => void): number => {
    const kept: string[] = []
    const stop = eachElement(input, at, (row) => {
      const next = skipValue(input, row)
      if (rows < most) kept.push(input.toString('utf8', row, next))
      rows = Math.min(most, rows + 1)
      return next
    })
    into(`[${kept.join(',')}]`)
    return stop
  }
  const parts: string[] = []
  if (input[data] !== OPEN_BRACE) list(data, (text) => parts.push(text))
  else {
    const groups: string[] = []
    eachMember(input, data, (name, at) => list(at, (text) => groups.push(`${JSON.stringify(name)}:${text}`)))
    parts.push(`{${groups.join(',')}}`)
  }
  return { text: `{"data":${parts.join('')}}`, rows }
}

function memberOf(input: Buffer, at: number, wanted: string): number {
  let found = at
  eachMember(input, at, (name, value) => {
    if (name === wanted) found = value
    return skipValue(input, value)
  })
  return found
}
