import type { CellStyle } from './sheet-plan.ts'

/** As spreadsheet programs draw what leads elsewhere. */
export const LINK_LOOK: CellStyle = { color: '0563C1', underline: true }

/** The look of a cell in a column of links that is none: what a template asks for itself stays. */
export function withoutLinkLook({ underline: _, color, ...style }: CellStyle): CellStyle {
  return color === undefined || color === LINK_LOOK.color ? style : { ...style, color }
}

/** Excel's own limit. */
const MAX_URL = 2_079

/** The address that a cell of a link column leads to, percent-encoded; null for what is no address of the web or of mail. */
export function linkTarget(text: string): string | null {
  if (text.length > MAX_URL || !/^(?:https?|ftp|mailto):/i.test(text)) return null
  const { href, protocol, pathname } = URL.parse(text) ?? {}
  if (href === undefined || href.length > MAX_URL) return null
  // A mail to nobody.
  return protocol === 'mailto:' && pathname === '' ? null : href
}
