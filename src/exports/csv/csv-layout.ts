import { csvHeader, csvRowLabels, type Template } from '../template/index.ts'
import type { CsvShape } from './csv-encoder.ts'
import { csvRecord } from './csv-text.ts'

const BOM = '\ufeff'

/** What a template says of a CSV file: its first line, where each column comes from, and the labels before the records. */
export class CsvLayout {
  readonly shape: CsvShape
  readonly #titles: readonly string[]
  /** Missing without row headers. */
  readonly #labels: ReadonlyMap<string, string[]> | undefined

  constructor(template: Template) {
    this.shape = shapeOf(template)
    this.#titles = csvHeader(template)
    this.#labels = template.rows.length > 0 ? csvRowLabels(template) : undefined
  }

  /** An empty source without a template has no columns, so there is no header to show either. */
  head(bom: boolean): Buffer {
    return Buffer.from(`${bom ? BOM : ''}${this.#titles.length === 0 ? '' : csvRecord(this.#titles)}`)
  }

  /** Labels of the row leaf of that name. */
  labelsOf(row: string | undefined): string[] {
    if (!this.#labels) return []
    const found = this.#labels.get(row ?? '')
    if (!found) throw new RangeError(`no row header is named ${JSON.stringify(row)}`)
    return found
  }
}

function shapeOf({ leaves, fields }: Template): CsvShape {
  const places = new Map(fields.map((name, i) => [name, i]))
  const shown = leaves.filter((leaf) => !leaf.rowHead)
  return {
    fields: fields.length,
    order: shown.map((leaf) => (leaf.name === null ? null : (places.get(leaf.name) ?? null))),
  }
}
