// node bench/exports/deflate.ts: compresses the same rows of XML with Wharf's own deflate and with zlib, on one thread.
import { FILL, MARKS, markKind, RowDeflater, XML } from '../../src/exports/xlsx/deflate/index.ts'
import { deflateInto, emptyBlock } from '../../src/exports/xlsx/zip/deflate-block.ts'
import { checkBars, printTable, quantile, ratio } from '../report.ts'
import { makeRandom, makeRow } from './xlsx/rows.ts'

const CHUNKS = 40
const ROUNDS = 5

interface Chunk {
  xml: Buffer
  marks: number[]
}

const random = makeRandom()
let row = 0
const chunks = Array.from({ length: CHUNKS }, nextChunk)
const megabytes = chunks.reduce((sum, { xml }) => sum + xml.length, 0) / 1e6

const own = measure(() => {
  const [block, deflater] = [emptyBlock(), new RowDeflater()]
  deflater.begin()
  for (const { xml, marks } of chunks) {
    XML.set(xml)
    MARKS.set(marks)
    deflater.deflateInto(block, xml.length, marks.length)
  }
  return block.bytes
})
const zlib = measure(() => {
  const block = emptyBlock()
  for (const { xml } of chunks) deflateInto(block, xml)
  return block.bytes
})
printTable(
  ['deflate', 'MB/s', 'to zlib', 'compressed to %'],
  [
    ['Wharf', megabytes / own.seconds, ratio(zlib.seconds, own.seconds), (own.bytes / megabytes) * 1e-4],
    ['zlib, level 1', megabytes / zlib.seconds, '1.00x', (zlib.bytes / megabytes) * 1e-4],
  ],
)
checkBars([
  { what: 'time, zlib = 1', value: own.seconds / zlib.seconds, atMost: 0.6, unit: 'x' },
  { what: 'size, zlib = 1', value: own.bytes / zlib.bytes, atMost: 1.05, unit: 'x' },
])

/** In turns would be fairer to neither: each has warm code and the median of its rounds. */
function measure(compress: () => number): { seconds: number; bytes: number } {
  let bytes = compress()
  const seconds = Array.from({ length: ROUNDS }, () => {
    const began = performance.now()
    bytes = compress()
    return (performance.now() - began) / 1_000
  })
  return { seconds: quantile(seconds, 0.5) ?? Number.NaN, bytes }
}

/** Rows as the encoder writes them, with its marks. */
function nextChunk(): Chunk {
  const parts: string[] = []
  const marks: number[] = []
  let length = 0
  let valueEnd = 0
  const add = (text: string) => {
    parts.push(text)
    length += Buffer.byteLength(text)
  }
  const mark = (kind: number, opening: string) => {
    marks.push(valueEnd, length, length + opening.length, kind)
    add(opening)
    valueEnd = length
  }
  while (length < FILL) {
    row += 1
    add(`<row r="${row}`)
    mark(markKind(0, 0), '">')
    for (const [column, value] of makeRow(row, random).entries()) {
      add(`<c r="${String.fromCharCode(65 + column)}${row}`)
      const isNumber = typeof value === 'number'
      mark(markKind(column + 1, isNumber ? 1 : 2), isNumber ? '"><v>' : '" t="inlineStr"><is><t>')
      add(String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
      valueEnd = length
      add(isNumber ? '</v></c>' : '</t></is></c>')
    }
    add('</row>')
  }
  return { xml: Buffer.from(parts.join('')), marks }
}
