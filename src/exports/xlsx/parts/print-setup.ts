import type { SheetPlan } from '../../sheet/index.ts'
import { escapeAttribute } from '../xml-text.ts'

/** Characters of usual size that an A4 page takes side by side. */
const PORTRAIT = 95
/** On a landscape page at half size; wider sheets take several pages side by side, so that they stay readable. */
const LANDSCAPE_AT_HALF_SIZE = 320
/** The whole header may have 255 characters, marks included. */
const MAX_TITLE = 200
const MAX_TITLE_WITH_MARK = 90
const MAX_MARK_LINE = 64

/** Pages that a printed sheet takes side by side. */
export function pagesAcross(widths: readonly number[]): number {
  return Math.max(1, Math.ceil(totalOf(widths) / LANDSCAPE_AT_HALF_SIZE))
}

/** Columns that the first of several pages surely shows. */
export function firstPageColumns(widths: readonly number[]): number {
  const page = totalOf(widths) / pagesAcross(widths)
  let sum = 0
  const over = widths.findIndex((width) => {
    sum += width
    return sum > page
  })
  return over < 0 ? widths.length : Math.max(1, over)
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0)
}

/** What a worksheet says of its print at its end: as wide as the page, a header and a footer with page numbers. */
export function printSetup(plan: SheetPlan, widths: readonly number[]): string {
  const total = totalOf(widths)
  const pages = pagesAcross(widths)
  const orientation = total > PORTRAIT ? 'landscape' : 'portrait'
  return (
    '<printOptions horizontalCentered="1"/>' +
    `<pageMargins left="0.4" right="0.4" top="${plan.watermark ? 1.05 : 0.75}" bottom="0.65" header="0.3" footer="0.3"/>` +
    `<pageSetup paperSize="9" orientation="${orientation}" fitToWidth="${pages}" fitToHeight="0"/>` +
    `<headerFooter><oddHeader>${pageHeader(plan)}</oddHeader><oddFooter>${pageFooter(plan)}</oddFooter></headerFooter>`
  )
}

/** Title to the left, date of print to the right, and in the middle below them the watermark, large and light. */
function pageHeader({ title, name, watermark }: SheetPlan): string {
  const shown = marked(title ?? name, watermark ? MAX_TITLE_WITH_MARK : MAX_TITLE)
  const [who = '', ...rest] = (watermark ?? []).map((line) => marked(line, MAX_MARK_LINE))
  const light = watermark ? `&amp;C\n&amp;18&amp;KD9D9D9 ${who}\n&amp;10 ${rest.join(' ')}` : ''
  return `&amp;L${shown}${light}&amp;R&amp;D`
}

function pageFooter({ watermark }: SheetPlan): string {
  if (!watermark) return '&amp;C&amp;P / &amp;N'
  const lines = watermark.map((line) => marked(line, MAX_MARK_LINE)).join(' · ')
  return `&amp;L&amp;8&amp;K8C8C8C ${lines}&amp;R&amp;P / &amp;N`
}

/** `&` begins a mark there, and two of them are one that shows. */
function marked(text: string, longest: number): string {
  let shown = ''
  for (const char of text.replace(/\s+/g, ' ').trim()) {
    const next = char === '&' ? '&&' : char
    if (shown.length + next.length > longest) break
    shown += next
  }
  return escapeAttribute(shown)
}
