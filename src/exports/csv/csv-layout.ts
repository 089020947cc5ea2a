import type { SpoolColumns } from '../source/index.ts'
import { csvHeader, csvRowLabels, rowLeaves, type Template } from '../template/index.ts'
import { csvText } from './csv-text.ts'

const BOM = '\ufeff'

/** A CSV file by its template: what stands before the records, and what they are made of, labels of row headers first. */
export function csvColumns(template: Template, { bom }: { bom: boolean }): SpoolColumns {
  const head = `${bom ? BOM : ''}${headerRow(template)}`
  const fields = template.leaves.filter((leaf) => !leaf.rowHead).map((leaf) => leaf.name)
  if (template.rows.length === 0) return { fields, csv: { head, leads: [''] } }
  const labels = csvRowLabels(template)
  const rowNames = rowLeaves(template.rows).map(({ name }) => name ?? '')
  const leads = rowNames.map((name) =>
    labels
      .get(name)!
      .map((label) => `${csvText(label)},`)
      .join(''),
  )
  return { fields, rowNames, csv: { head, leads } }
}

/** Without any columns (an empty source, no template) there is none. */
function headerRow(template: Template): string {
  const titles = csvHeader(template)
  return titles.length === 0 ? '' : `${titles.map(csvText).join(',')}\r\n`
}
