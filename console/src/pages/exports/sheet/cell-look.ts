import type { CSSProperties } from 'react'
import type { CellLook } from '../../../api/export-drafts.ts'

/** Pixels of a point, a little smaller than on paper, and of a step to the side. */
const POINT = 1.18
const STEP = 8

/** How a cell of the file looks. */
export function lookOf(look: CellLook): CSSProperties {
  const { bold, italic, underline, size, color, bgColor, align, vAlign, border, indent } = look
  const side = align === 'right' ? 'paddingRight' : 'paddingLeft'
  return {
    ...(bold && { fontWeight: 640 }),
    ...(italic && { fontStyle: 'italic' }),
    ...(underline && { textDecoration: 'underline' }),
    ...(size !== undefined && { fontSize: `${Math.min(size, 18) * POINT}px` }),
    ...(color !== undefined && { color: `#${color}` }),
    ...(bgColor !== undefined && bgColor !== 'none' && { backgroundColor: `#${bgColor}` }),
    ...(align !== undefined && { textAlign: align }),
    ...(vAlign !== undefined && { verticalAlign: vAlign }),
    ...(border !== undefined && { borderColor: `#${border}` }),
    ...(indent !== undefined && { [side]: `${4 + indent * STEP}px` }),
  }
}
