import { templateError } from '../condition/index.ts'
import type { SpoolColumns } from '../sources/index.ts'
import { csvHeader, csvRowLabels, type Template } from '../template/index.ts'
import type { CsvColumn, CsvRecipe } from './csv-work.ts'
import { type CsvDialect, isSpooled } from './dialect.ts'
import { FieldWriter } from './field-writer.ts'

const BOM = '\ufeff'
/** Labels are repeated in each record: long ones of many row headers would fill the memory before there is a row. */
const MAX_LABELS = 4 * 1024 * 1024

export interface CsvLayout {
  /** What the spool holds: the file's own records, or typed ones if these have to be changed on their way. */
  spool: SpoolColumns
  /** What the file begins with. */
  head: string
  /** Fields of its first line. */
  titles: number
  /** By column, without labels of row headers: 1 where its title looks like a formula and got an apostrophe. */
  escapedTitles: number[]
  /** How typed records become the file's; null: they are spooled as the file has them. */
  recipe: CsvRecipe | null
  /** Labels before each record, by the name of its row header. */
  labels: ReadonlyMap<string, string[]>
}

/** A CSV file by its template: what comes before the records, and what they are made of, labels of row headers first. */
export function layOutCsv(
  template: Template,
  { dialect, timezone }: { dialect: CsvDialect; timezone: string },
): CsvLayout {
  const writer = new FieldWriter(dialect)
  const escapes: number[] = []
  const titles = csvHeader(template).map((title) => {
    const before = writer.escaped
    const text = writer.text(title)
    escapes.push(writer.escaped - before)
    return text
  })
  // Without any columns (an empty source, no template) there is no header.
  const head = `${dialect.bom ? BOM : ''}${titles.length === 0 ? '' : writer.record(titles)}`
  const leaves = template.leaves.filter((leaf) => !leaf.rowHead)
  const escapedTitles = escapes.slice(escapes.length - leaves.length)
  const columns = leaves.map(({ type, style }) => columnOf(type, style.format))
  const fields = leaves.map((leaf) => leaf.name)
  const labels = labelsOf(template)
  const rowNames = template.rows.length > 0 && { rowNames: [...labels.keys()] }
  if (!isSpooled(dialect) || columns.some(({ kind }) => kind === 'date'))
    return {
      spool: { fields, ...rowNames },
      head,
      titles: titles.length,
      escapedTitles,
      recipe: { dialect, timezone, columns },
      labels,
    }
  const { formulas } = dialect
  const leads = rowNames
    ? Array.from(labels.values(), (texts) => {
        const lead = texts.map((text) => writer.text(text)).join(dialect.delimiter)
        return fields.length > 0 ? `${lead}${dialect.delimiter}` : lead
      })
    : ['']
  const types = leaves.map(({ type }) => type)
  const spool = { fields, ...rowNames, csv: { head, leads, formulas, types } }
  return { spool, head, titles: titles.length, escapedTitles, recipe: null, labels }
}

function labelsOf(template: Template): Map<string, string[]> {
  const labels = csvRowLabels(template)
  // One without a name keeps its place in a sheet; a file of records has nothing to show for it.
  if (template.rows.length > 0 && labels.size === 0)
    throw templateError('template.row', 'in a CSV file, row headers must have names')
  let size = 0
  for (const texts of labels.values()) for (const text of texts) size += text.length + 3
  if (size > MAX_LABELS)
    throw templateError('template.row', `the labels take more than ${MAX_LABELS} characters in a CSV file`)
  return labels
}

function columnOf(type: Template['leaves'][number]['type'], format: string | undefined): CsvColumn {
  switch (type) {
    case 'date':
    case 'datetime':
      return { type, kind: 'date', format: format ?? '' }
    case 'number':
    case 'integer':
    case 'money':
    case 'percent':
      return { type, kind: 'number' }
    default:
      return { type, kind: 'value' }
  }
}
