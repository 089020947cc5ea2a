import { useTranslation } from 'react-i18next'
import type { SheetPreview } from '../../../api/export-drafts.ts'
import { SheetAreaRows } from './sheet-area.tsx'
import { SheetDataRows } from './sheet-data.tsx'
import './sheet.css'

/** Pixels of a digit, and of what a column has besides, as Excel counts them. */
const DIGIT = 7
const PADDING = 5

/** The beginning of a file as a spreadsheet program will show it: merged cells, letters, numbers, looks. */
export function Sheet({ preview }: { preview: SheetPreview }) {
  const { t } = useTranslation()
  const { top, data, bottom, styles, widths } = preview
  const count = Math.max(widths.length, ...top.cells.map(({ column, columnSpan }) => column + columnSpan))
  const columns = Array.from({ length: count }, (_, index) => letter(index))
  const end = top.rows + data.length + 1
  return (
    // A table that is wider than the page is scrolled by itself, with the keyboard too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable
    <section className="sheet" aria-label={t('exports.preview.of', { name: preview.name })} tabIndex={0}>
      <table>
        <colgroup>
          <col />
          {columns.map((name, index) => (
            <col key={name} style={widthOf(widths[index])} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <td className="sheet-corner" />
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <SheetAreaRows area={top} firstRow={1} />
          <SheetDataRows rows={data} styles={styles} columns={count} />
          <SheetAreaRows area={bottom} firstRow={end} />
        </tbody>
      </table>
    </section>
  )
}

function widthOf(width: number | undefined) {
  return width === undefined ? {} : { minWidth: width * DIGIT + PADDING, width: width * DIGIT + PADDING }
}

function letter(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : `${letter(Math.floor(index / 26) - 1)}${last}`
}
