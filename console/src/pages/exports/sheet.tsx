import { useTranslation } from 'react-i18next'
import type { SheetPreview } from '../../api/export-drafts.ts'
import { drawValue } from './cell-value.ts'
import { SheetAreaRows } from './sheet-area.tsx'
import './sheet.css'

/** The beginning of a sheet as a spreadsheet program will show it: merged header cells, letters, numbers. */
export function Sheet({ preview, plain }: { preview: SheetPreview; plain: boolean }) {
  const { t, i18n } = useTranslation()
  const { columns, rows } = preview
  const top = plain ? titlesOf(preview) : preview.top
  return (
    // A table that is wider than the page is scrolled by itself, with the keyboard too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable
    <section className="sheet" aria-label={t('exports.preview.of', { name: preview.name })} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <td className="sheet-corner" />
            {columns.map(({ title, name }, index) => (
              <th key={`${name ?? title}-${letter(index)}`} scope="col">
                {letter(index)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <SheetAreaRows area={top} firstRow={1} />
          {rows.map((row, index) => (
            <tr key={index}>
              <th scope="row">{top.rows + index + 1}</th>
              {columns.map(({ name, title, type }, column) => {
                const { text, align } = drawValue(row[column], plain ? 'string' : type, i18n.language)
                return (
                  <td key={`${name ?? title}-${letter(column)}`} style={{ textAlign: align }}>
                    {text}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** A CSV file has one line of titles. */
function titlesOf({ columns }: SheetPreview) {
  const cells = columns.map(({ title }, column) => ({
    row: 0,
    column,
    rowSpan: 1,
    columnSpan: 1,
    value: title,
    style: {},
  }))
  return { rows: 1, cells }
}

function letter(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : `${letter(Math.floor(index / 26) - 1)}${last}`
}
