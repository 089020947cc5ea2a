import { BUILT_IN_FORMATS, type CellStyle, isUsableFormat } from '../../sheet/index.ts'
import { escapeAttribute } from '../xml-text.ts'

export const DEFAULT_FONT_SIZE = 11
const FIRST_OWN_FORMAT = 164

/** `xl/styles.xml`: hands out a number for each look, the same number for the same look. */
export class StyleBook {
  readonly #fonts = new Numbered([font({})])
  readonly #fills = new Numbered([
    '<fill><patternFill patternType="none"/></fill>',
    '<fill><patternFill patternType="gray125"/></fill>',
  ])
  readonly #borders = new Numbered(['<border><left/><right/><top/><bottom/><diagonal/></border>'])
  readonly #formats = new Numbered([])
  readonly #cells = new Numbered(['<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'])

  /** Position in `cellXfs`; 0 is Excel's own look. */
  add(style: CellStyle): number {
    const formatId = this.#formatId(style.format)
    const fontId = this.#fonts.add(font(style))
    const fillId = isColor(style.bgColor) ? this.#fills.add(fill(style.bgColor)) : 0
    const borderId = isColor(style.border) ? this.#borders.add(border(style.border)) : 0
    const alignment = align(style)
    const applies =
      (formatId ? ' applyNumberFormat="1"' : '') +
      (fontId ? ' applyFont="1"' : '') +
      (fillId ? ' applyFill="1"' : '') +
      (borderId ? ' applyBorder="1"' : '') +
      (alignment ? ' applyAlignment="1"' : '')
    const open = `<xf numFmtId="${formatId}" fontId="${fontId}" fillId="${fillId}" borderId="${borderId}" xfId="0"${applies}`
    return this.#cells.add(alignment ? `${open}>${alignment}</xf>` : `${open}/>`)
  }

  toXml(): string {
    const formats = this.#formats.all
      .map((code, index) => `<numFmt numFmtId="${FIRST_OWN_FORMAT + index}" formatCode="${code}"/>`)
      .join('')
    return (
      '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
      '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
      (formats && `<numFmts count="${this.#formats.all.length}">${formats}</numFmts>`) +
      list('fonts', this.#fonts.all) +
      list('fills', this.#fills.all) +
      list('borders', this.#borders.all) +
      '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
      list('cellXfs', this.#cells.all) +
      '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>' +
      '<dxfs count="0"/><tableStyles count="0" defaultTableStyle="TableStyleMedium9" defaultPivotStyle="PivotStyleLight16"/>' +
      '</styleSheet>'
    )
  }

  #formatId(format: string | undefined): number {
    if (format === undefined || !isUsableFormat(format)) return 0
    return BUILT_IN_FORMATS.get(format) ?? FIRST_OWN_FORMAT + this.#formats.add(escapeAttribute(format))
  }
}

class Numbered {
  readonly #numbers: Map<string, number>

  constructor(first: string[]) {
    this.#numbers = new Map(first.map((item, index) => [item, index]))
  }

  get all(): string[] {
    return [...this.#numbers.keys()]
  }

  add(item: string): number {
    const known = this.#numbers.get(item)
    if (known !== undefined) return known
    this.#numbers.set(item, this.#numbers.size)
    return this.#numbers.size - 1
  }
}

export function isColor(color: string | undefined): color is string {
  return color !== undefined && /^[0-9a-f]{6}$/i.test(color)
}

/** What a font element and a rich text run say alike, in the order in which Excel writes it. */
export function fontProperties(style: CellStyle): string {
  return (
    (style.bold ? '<b/>' : '') +
    (style.italic ? '<i/>' : '') +
    (style.underline ? '<u/>' : '') +
    `<sz val="${fontSize(style.size)}"/>` +
    (isColor(style.color) ? `<color rgb="FF${style.color.toUpperCase()}"/>` : '<color theme="1"/>')
  )
}

function fontSize(size: number | undefined): number {
  return size !== undefined && size >= 1 && size <= 409 ? size : DEFAULT_FONT_SIZE
}

function font(style: CellStyle): string {
  return `<font>${fontProperties(style)}${fontName(style, 'name')}</font>`
}

/** A font other than Calibri is there for its East Asian glyphs, so its character set is said too (134 is Chinese). */
export function fontName({ font }: CellStyle, element: 'name' | 'rFont'): string {
  if (font === undefined) return `<${element} val="Calibri"/><family val="2"/>`
  return `<${element} val="${escapeAttribute(font)}"/><family val="2"/><charset val="134"/>`
}

function border(color: string): string {
  const side = (name: string) => `<${name} style="thin"><color rgb="FF${color.toUpperCase()}"/></${name}>`
  return `<border>${['left', 'right', 'top', 'bottom'].map(side).join('')}<diagonal/></border>`
}

function fill(color: string): string {
  return `<fill><patternFill patternType="solid"><fgColor rgb="FF${color.toUpperCase()}"/><bgColor indexed="64"/></patternFill></fill>`
}

function align(style: CellStyle): string {
  const vertical = style.vAlign === 'middle' ? 'center' : style.vAlign
  const attributes =
    (style.align ? ` horizontal="${style.align}"` : '') +
    // Excel's own vertical alignment is the bottom, and it leaves that unsaid.
    (vertical && vertical !== 'bottom' ? ` vertical="${vertical}"` : '') +
    (style.wrap ? ' wrapText="1"' : '') +
    (style.indent ? ` indent="${style.indent}"` : '')
  return attributes && `<alignment${attributes}/>`
}

function list(name: string, items: string[]): string {
  return `<${name} count="${items.length}">${items.join('')}</${name}>`
}
