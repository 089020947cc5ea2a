import { readFile } from 'node:fs/promises'
import { inflateRawSync } from 'node:zlib'
import { formatColor, isDateFormat } from 'numfmt'
import { type CellStyle, shownText } from '../../sheet/index.ts'
import { cellReference } from '../cell-reference.ts'
import { sheetPath, sheetRelationshipsPath } from '../parts/index.ts'
import { readStyles } from './read-styles.ts'
import { childOf, parseXml, textOf, type XmlNode } from './xml-tree.ts'

/** A cell as the file has it. */
interface SeenCell {
  /** Of the sheet, from 0. */
  column: number
  rowSpan: number
  columnSpan: number
  type: ShownValue['type'] | 'empty'
  /** Of a formula, what it comes to. */
  value: ShownValue['value'] | null
  /** What is shown of it. */
  text: string
  /** Place in `styles`. */
  style: number
  color?: string
  formula?: string
  link?: string
}

export interface SeenRow {
  /** In the sheet, from 1. */
  row: number
  /** Points; null: as usual. */
  height: number | null
  cells: SeenCell[]
}

export interface SeenSheet {
  /** Characters, by column. */
  widths: number[]
  /** Looks of all cells of the workbook. */
  styles: CellStyle[]
  rows: SeenRow[]
}

/** Reads a small workbook that Wharf has written: what a preview shows is what a file has. */
export async function readWorkbook(path: string): Promise<SeenSheet[]> {
  const files = await readZip(path)
  const styles = readStyles(files.get('xl/styles.xml')!)
  const sheets: SeenSheet[] = []
  for (let n = 1; files.has(sheetPath(n)); n += 1) {
    const targets = files.get(sheetRelationshipsPath(n))
    sheets.push(readSheet(parseXml(files.get(sheetPath(n))!), styles, targets))
  }
  return sheets
}

function readSheet(sheet: XmlNode, styles: CellStyle[], targets: string | undefined): SeenSheet {
  const spans = spansOf(childOf(sheet, 'mergeCells')?.children ?? [])
  const links = linksOf(childOf(sheet, 'hyperlinks')?.children ?? [], targets)
  const widths = (childOf(sheet, 'cols')?.children ?? []).map(({ attributes }) => {
    const stored = Number(attributes.width)
    return Math.round((stored - 5 / 7) * 100) / 100
  })
  const rows = (childOf(sheet, 'sheetData')?.children ?? []).map(({ attributes, children }): SeenRow => {
    const cells = children.flatMap((cell): SeenCell[] => {
      const span = spans.get(cell.attributes.r!)
      if (span === 'covered') return []
      const link = links.get(cell.attributes.r!)
      return [{ ...seenCell(cell, styles), ...(span ?? ALONE), ...(link !== undefined && { link }) }]
    })
    const height = attributes.ht === undefined ? null : Number(attributes.ht)
    return { row: Number(attributes.r), height, cells }
  })
  return { widths, styles, rows }
}

const ALONE = { rowSpan: 1, columnSpan: 1 }

function seenCell(cell: XmlNode, styles: CellStyle[]): Omit<SeenCell, 'rowSpan' | 'columnSpan'> {
  const { r = '', s = '0', t } = cell.attributes
  const style = Number(s)
  const at = { column: placeOf(r).column, style }
  const value = valueOfCell(cell, t)
  if (value === null) return { ...at, type: 'empty', value: null, text: '' }
  const formula = childOf(cell, 'f')?.text
  return { ...at, ...showValue(value, styles[style]?.format), ...(formula !== undefined && { formula }) }
}

function valueOfCell(cell: XmlNode, type: string | undefined): string | number | boolean | null {
  const inline = childOf(cell, 'is')
  if (inline) return textOf(inline)
  const text = childOf(cell, 'v')?.text
  if (text === undefined) return null
  if (type === 'b') return text === '1'
  return type === 'str' ? text : Number(text)
}

function spansOf(
  merges: readonly XmlNode[],
): Map<string, { rowSpan: number; columnSpan: number } | 'covered'> {
  const spans = new Map<string, { rowSpan: number; columnSpan: number } | 'covered'>()
  for (const { attributes } of merges) {
    const [first, last] = attributes.ref!.split(':').map(placeOf)
    for (let row = first!.row; row <= last!.row; row += 1)
      for (let column = first!.column; column <= last!.column; column += 1)
        spans.set(cellReference(row, column), 'covered')
    const rowSpan = last!.row - first!.row + 1
    spans.set(attributes.ref!.split(':')[0]!, { rowSpan, columnSpan: last!.column - first!.column + 1 })
  }
  return spans
}

function linksOf(links: readonly XmlNode[], targets: string | undefined): Map<string, string> {
  const known = targets === undefined ? [] : parseXml(targets).children
  const byId = new Map(known.map(({ attributes }) => [attributes.Id, attributes.Target]))
  return new Map(
    links.map(({ attributes: { ref, 'r:id': id, location } }) => {
      return [ref!, `${byId.get(id) ?? ''}${location === undefined ? '' : `#${location}`}`]
    }),
  )
}

function placeOf(reference: string): { row: number; column: number } {
  const [, letters = '', digits = ''] = /^([A-Z]+)(\d+)$/.exec(reference) ?? []
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return { row: Number(digits), column: column - 1 }
}

const END = 0x06054b50
const ENTRY = 0x02014b50

/** The files of a small archive that Wharf has written: no zip64, no encryption. */
async function readZip(path: string): Promise<Map<string, string>> {
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

/** What a cell shows, and as what. */
interface ShownValue {
  type: 'text' | 'number' | 'date' | 'boolean'
  value: string | number | boolean
  text: string
  /** RRGGBB, where the number format has a colour for the value. */
  color?: string
}

const COLORS: Record<string, string> = {
  black: '000000',
  white: 'FFFFFF',
  red: 'FF0000',
  green: '00FF00',
  blue: '0000FF',
  yellow: 'FFFF00',
  cyan: '00FFFF',
  magenta: 'FF00FF',
}

/** A value under a number format, as a spreadsheet shows it. */
function showValue(value: string | number | boolean, code = 'General'): ShownValue {
  if (typeof value === 'boolean') return { type: 'boolean', value, text: value ? 'TRUE' : 'FALSE' }
  const type = typeof value === 'string' ? 'text' : isDateFormat(code) ? 'date' : 'number'
  try {
    const color = colorOf(formatColor(code, value))
    return { type, value, text: shownText(code, value), ...(color !== undefined && { color }) }
  } catch {
    // A format that only Excel knows.
    return { type, value, text: String(value) }
  }
}

function colorOf(found: unknown): string | undefined {
  if (typeof found !== 'string') return undefined
  return COLORS[found] ?? (/^#[0-9A-F]{6}$/i.test(found) ? found.slice(1) : undefined)
}
