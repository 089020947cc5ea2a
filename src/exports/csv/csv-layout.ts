import type { SpoolColumns } from '../source/index.ts'
import { csvHeader, csvRowLabels, type Template, templateError } from '../template/index.ts'
import { csvText } from './csv-text.ts'

const BOM = '\ufeff'
/** Labels stand before each record: long ones of many row headers would fill the memory before there is a row. */
const MAX_LABELS = 4 * 1024 * 1024

/** A CSV file by its template: what stands before the records, and what they are made of, labels of row headers first. */
export function csvColumns(template: Template, { bom }: { bom: boolean }): SpoolColumns {
  const head = `${bom ? BOM : ''}${headerRow(template)}`
  const fields = template.leaves.filter((leaf) => !leaf.rowHead).map((leaf) => leaf.name)
  if (template.rows.length === 0) return { fields, csv: { head, leads: [''] } }
  const labels = csvRowLabels(template)
  // One without a name keeps its place in a sheet; a file of records has nothing to show for it.
  if (labels.size === 0) throw templateError('template.row', 'in a CSV file, row headers must have names')
  return { fields, rowNames: [...labels.keys()], csv: { head, leads: leadsOf(labels, fields.length > 0) } }
}

/** Without any columns (an empty source, no template) there is none. */
function headerRow(template: Template): string {
  const titles = csvHeader(template)
  return titles.length === 0 ? '' : `${titles.map(csvText).join(',')}\r\n`
}

function leadsOf(labels: ReadonlyMap<string, string[]>, fieldsFollow: boolean): string[] {
  let size = 0
  return Array.from(labels.values(), (texts) => {
    const lead = `${texts.map(csvText).join(',')}${fieldsFollow ? ',' : ''}`
    size += lead.length
    if (size > MAX_LABELS)
      throw templateError('template.row', `the labels take more than ${MAX_LABELS} characters in a CSV file`)
    return lead
  })
}
