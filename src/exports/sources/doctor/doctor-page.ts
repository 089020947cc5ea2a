import { createHash } from 'node:crypto'
import { eachElement, eachMember, OPEN_BRACE, OPEN_BRACKET, ShapeFault, skipValue } from '../json/index.ts'
import { countOf, startOfPage } from '../pages/index.ts'

/** What the doctor needs to know of a page: a print of each row, and which keys the rows have. */
export interface DoctorPage {
  total: number | undefined
  rows: string[]
  /** Keys of each kind of row, joined: more than one kind means that rows are not alike. */
  kinds: Set<string>
}

export function readDoctorPage(input: Buffer, end: number, page: number, wrapped: boolean): DoctorPage {
  const read: DoctorPage = { total: undefined, rows: [], kinds: new Set() }
  const member = (key: string, at: number): number => {
    if (key === 'data') return readRows(input, at, read)
    const stop = skipValue(input, at)
    if (key === 'total') read.total = countOf(JSON.parse(input.toString('utf8', at, stop)))
    return stop
  }
  eachMember(input, startOfPage(input, end, page), (key, at) => {
    if (!wrapped) return member(key, at)
    return key === 'data' && input[at] === OPEN_BRACE ? eachMember(input, at, member) : skipValue(input, at)
  })
  return read
}

function readRows(input: Buffer, at: number, into: DoctorPage): number {
  if (input[at] === OPEN_BRACE) return eachMember(input, at, (_, list) => readRows(input, list, into))
  if (input[at] !== OPEN_BRACKET) throw new ShapeFault('data is not a list of rows')
  return eachElement(input, at, (row) => {
    const keys: string[] = []
    if (input[row] !== OPEN_BRACE) throw new ShapeFault(`row ${into.rows.length + 1} is not an object`)
    const stop = eachMember(input, row, (key, value) => {
      keys.push(key)
      return skipValue(input, value)
    })
    into.rows.push(createHash('sha1').update(input.subarray(row, stop)).digest('base64'))
    into.kinds.add(keys.sort().join('\u0000'))
    return stop
  })
}
