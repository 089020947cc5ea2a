import type { SpoolColumns } from '../source/index.ts'
import { csvHeader, csvRowLabels, rowLeaves, type Template } from '../template/index.ts'
import { csvText } from './csv-text.ts'

const BOM = '\ufeff'

/** What stands before the records. Without any columns (an empty source, no template) there is no header to show. */
export function csvHead(template: Template, bom: boolean): Buffer {
  const titles = csvHeader(template)
  return Buffer.from(`${bom ? BOM : ''}${titles.length === 0 ? '' : `${titles.map(csvText).join(',')}\r\n`}`)
}

/** The columns of a file: those of the leaves, after the labels of the row headers. */
export function csvColumns(template: Template): SpoolColumns {
  const fields = template.leaves.filter((leaf) => !leaf.rowHead).map((leaf) => leaf.name)
  if (template.rows.length === 0) return { fields, csv: { leads: [''] } }
  const labels = csvRowLabels(template)
  const rowNames = rowLeaves(template.rows).map(({ name }) => name ?? '')
  const leads = rowNames.map((name) =>
    labels
      .get(name)!
      .map((label) => `${csvText(label)},`)
      .join(''),
  )
  return { fields, rowNames, csv: { leads } }
}
