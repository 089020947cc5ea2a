import { type CellStyle, LINK_LOOK } from '../sheet/index.ts'

const THEMES = ['business', 'plain'] as const
export type ThemeName = (typeof THEMES)[number]

/** How the parts of a sheet look as long as the template does not say otherwise. */
export interface Theme {
  /** Points of a row of one line; Excel's own when missing. */
  usualHeight?: number
  /** Characters between line and text, in columns that are aligned to a side. */
  indent?: number
  title: CellStyle
  titleHeight: number
  /** Summary, and a footer that is a text. */
  text: CellStyle
  label: CellStyle
  value: CellStyle
  /** A watermark's line. */
  mark: CellStyle
  /** A column's header cell, and one over several columns at a level of the tree, counted from the top. */
  head: CellStyle
  groupHead(level: number): CellStyle
  /** The same for row headers. */
  rowHead: CellStyle
  groupRowHead(level: number): CellStyle
  data: CellStyle
  link: CellStyle
  total: CellStyle
  subtotal: CellStyle
}

const LABEL: CellStyle = { align: 'right', vAlign: 'middle', wrap: true }
const VALUE: CellStyle = { align: 'left', vAlign: 'middle', wrap: true }
const TITLE: CellStyle = { bold: true, size: 16, align: 'center', vAlign: 'middle', wrap: true }
const MARK: CellStyle = { align: 'left', vAlign: 'middle', wrap: true, size: 8, color: '8C8C8C' }
const TOTAL: CellStyle = { bold: true, align: 'center', vAlign: 'middle' }

const plain: Theme = {
  title: TITLE,
  titleHeight: 30,
  text: { align: 'left', vAlign: 'top', wrap: true },
  label: LABEL,
  value: VALUE,
  mark: MARK,
  head: { bold: true, wrap: true },
  groupHead: () => ({ bold: true, wrap: true }),
  rowHead: { bold: true, wrap: true },
  groupRowHead: () => ({ bold: true, wrap: true }),
  data: {},
  link: LINK_LOOK,
  total: TOTAL,
  subtotal: TOTAL,
}

/** Windows and Office have it, and it has Chinese glyphs; LibreOffice knows what to take in its place. */
const FONT: CellStyle = { font: 'Microsoft YaHei', size: 10 }
const INK = '1F3556'
const GRID: CellStyle = { ...FONT, border: 'B8C4D6' }
const HEAD: CellStyle = { ...GRID, bold: true, wrap: true, color: INK, padding: 6 }
/** From the outermost level inwards; deeper ones look like the last. */
const GROUP_FILLS = ['C3D2E8', 'D1DDEE', 'DBE5F2']
const ROW_GROUP_FILLS = ['DCE6F2', 'E6EDF6', 'ECF1F8']

const business: Theme = {
  usualHeight: 18,
  indent: 1,
  title: { ...TITLE, font: FONT.font!, color: INK, padding: 14 },
  titleHeight: 38,
  text: { ...FONT, align: 'left', vAlign: 'middle', wrap: true, color: '595959', padding: 10 },
  label: { ...GRID, ...LABEL, color: '5A6B82', bgColor: 'F3F6FA', padding: 4, indent: 1 },
  value: { ...GRID, ...VALUE, padding: 4, indent: 1 },
  mark: { ...MARK, font: FONT.font!, padding: 4 },
  head: { ...HEAD, bgColor: 'E3EBF5' },
  groupHead: (level) => ({ ...HEAD, bgColor: shade(GROUP_FILLS, level) }),
  rowHead: { ...HEAD, bgColor: 'F2F6FB' },
  groupRowHead: (level) => ({ ...HEAD, bgColor: shade(ROW_GROUP_FILLS, level) }),
  data: GRID,
  link: LINK_LOOK,
  total: { ...TOTAL, ...GRID, color: INK, bgColor: 'E3EBF5' },
  subtotal: { ...TOTAL, ...GRID, color: INK, bgColor: 'F2F6FB' },
}

function shade(fills: readonly string[], level: number): string {
  return fills[Math.min(level, fills.length - 1)]!
}

export function themeOf(name: ThemeName): Theme {
  return name === 'plain' ? plain : business
}
