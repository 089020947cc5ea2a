import { escapeAttribute } from '../xml-text.ts'

/** A cell that leads to an address. */
export interface CellLink {
  cell: string
  url: string
}

/** Excel's own limit, per sheet. */
export const MAX_LINKS = 65_530

/** `<hyperlinks>` of a worksheet. What follows a `#` is said in the sheet, not in the relationship. */
export function hyperlinks(links: readonly CellLink[]): string {
  if (links.length === 0) return ''
  const items = links.map(({ cell, url }, n) => {
    const [, place] = splitUrl(url)
    const location = place === '' ? '' : ` location="${escapeAttribute(place)}"`
    return `<hyperlink ref="${cell}" r:id="rId${n + 1}"${location}/>`
  })
  return `<hyperlinks>${items.join('')}</hyperlinks>`
}

/** The addresses, as relationships of the worksheet. */
export function linkTargets(links: readonly CellLink[]): string[] {
  return links.map(({ url }) => splitUrl(url)[0])
}

function splitUrl(url: string): [address: string, place: string] {
  const at = url.indexOf('#')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

/** About what a link weighs in the file, compressed. */
export function linkBytes(links: readonly CellLink[]): number {
  return links.reduce((sum, { url }) => sum + 24 + url.length / 2, 0)
}
