import { BUILT_IN_FORMATS, type CellStyle } from '../../sheet/index.ts'
import { DEFAULT_FONT_SIZE } from '../parts/index.ts'
import { childOf, parseXml, type XmlNode } from './xml-tree.ts'

/** The looks of `xl/styles.xml`, by the number that cells carry. */
export function readStyles(xml: string): CellStyle[] {
  const sheet = parseXml(xml)
  const list = (name: string) => childOf(sheet, name)?.children ?? []
  const formats = new Map([...BUILT_IN_FORMATS].map(([code, id]) => [String(id), code]))
  for (const { attributes } of list('numFmts')) formats.set(attributes.numFmtId!, attributes.formatCode!)
  const [fonts, fills, borders] = [list('fonts'), list('fills'), list('borders')]
  return list('cellXfs').map((xf) => {
    const { fontId, fillId, borderId, numFmtId } = xf.attributes
    const format = formats.get(numFmtId!)
    return {
      ...fontOf(fonts[Number(fontId)]!),
      ...(Number(fillId) > 1 && {
        bgColor: colorOf(childOf(fills[Number(fillId)]!.children[0], 'fgColor'))!,
      }),
      ...(Number(borderId) > 0 && { border: colorOf(borders[Number(borderId)]!.children[0]!.children[0])! }),
      ...(format !== undefined && format !== 'General' && { format }),
      ...alignmentOf(childOf(xf, 'alignment')?.attributes ?? {}),
    }
  })
}

function fontOf(font: XmlNode): CellStyle {
  const value = (name: string) => childOf(font, name)?.attributes.val
  const has = (name: string) => childOf(font, name) !== undefined
  const size = Number(value('sz'))
  const color = colorOf(childOf(font, 'color'))
  const name = value('name')
  return {
    ...(has('b') && { bold: true }),
    ...(has('i') && { italic: true }),
    ...(has('u') && { underline: true }),
    ...(size !== DEFAULT_FONT_SIZE && { size }),
    ...(color !== undefined && { color }),
    ...(name !== undefined && name !== 'Calibri' && { font: name }),
  }
}

function colorOf(node: XmlNode | undefined): string | undefined {
  return node?.attributes.rgb?.slice(2)
}

function alignmentOf(attributes: Record<string, string>): CellStyle {
  const { horizontal, vertical = 'bottom', wrapText, indent } = attributes
  const vAlign = vertical === 'center' ? 'middle' : vertical
  return {
    ...(horizontal !== undefined && { align: horizontal as NonNullable<CellStyle['align']> }),
    vAlign: vAlign as NonNullable<CellStyle['vAlign']>,
    ...(wrapText === '1' && { wrap: true }),
    ...(indent !== undefined && { indent: Number(indent) }),
  }
}
