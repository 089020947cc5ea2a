import type { SheetPlan } from '../sheet-plan.ts'
import { escapeAttribute } from '../xml-text.ts'

/** Characters of usual size that an A4 page takes side by side. */
const PORTRAIT = 95
/** On a landscape page at half size; wider sheets take several pages side by side, so that they stay readable. */
const LANDSCAPE_AT_HALF_SIZE = 320
/** The whole header may have 255 characters, marks included. */
const MAX_TITLE = 200

/** What a worksheet says of its print at its end: as wide as the page, a header and a footer with page numbers. */
export function printSetup(plan: SheetPlan, widths: readonly number[]): string {
  const total = widths.reduce((sum, width) => sum + width, 0)
  const pages = Math.max(1, Math.ceil(total / LANDSCAPE_AT_HALF_SIZE))
  const orientation = total > PORTRAIT ? 'landscape' : 'portrait'
  return (
    '<printOptions horizontalCentered="1"/>' +
    '<pageMargins left="0.4" right="0.4" top="0.75" bottom="0.65" header="0.3" footer="0.3"/>' +
    `<pageSetup paperSize="9" orientation="${orientation}" fitToWidth="${pages}" fitToHeight="0"/>` +
    `<headerFooter><oddHeader>${pageHeader(plan.title ?? plan.name)}</oddHeader><oddFooter>&amp;C&amp;P / &amp;N</oddFooter></headerFooter>`
  )
}

/** Title to the left, date of print to the right. `&` begins a mark there, and two of them are one that shows. */
function pageHeader(title: string): string {
  let shown = ''
  for (const char of title.replace(/\s+/g, ' ').trim()) {
    const next = char === '&' ? '&&' : char
    if (shown.length + next.length > MAX_TITLE) break
    shown += next
  }
  return `&amp;L${escapeAttribute(shown)}&amp;R&amp;D`
}
