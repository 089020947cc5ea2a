import type { RowGroup, RowHeads } from '../../sheet/index.ts'
import { cellReference } from '../cell-reference.ts'
import type { HeadCell } from '../encode/index.ts'
import { linesIn, type StyleBook } from '../parts/index.ts'
import type { Piece } from '../pieces.ts'
import { cutToCell, readableText } from '../xml-text.ts'

interface Label {
  cell: HeadCell
  level: number
  /** Last sheet column that it covers. */
  lastColumn: number
}

/** The labels of the row headers: which are over a group of rows, and which cells they cover in the present file. */
export class RowLabels {
  /** By group: the labels that cover it, those that begin there and those that began before. */
  readonly #covering: Label[][]
  readonly #starting: HeadCell[][]
  readonly #spans = new Map<Label, { first: number; last: number }>()

  constructor(
    heads: RowHeads | undefined,
    { styles, widths }: { styles: StyleBook; widths: readonly number[] },
  ) {
    const groups = heads?.groups ?? []
    this.#covering = groups.map(() => [])
    this.#starting = groups.map(() => [])
    groups.forEach((group, index) => {
      for (const label of group.labels) this.#addLabel(heads!.columns, label, index, { styles, widths })
    })
  }

  /** What the first row of a piece has to show. A file begins with every label that is still valid. */
  cellsAt({ group, startsGroup }: Piece, fileStart: boolean): HeadCell[] {
    if (group < 0) return []
    if (fileStart) return this.#covering[group]!.map(({ cell }) => cell)
    return startsGroup ? this.#starting[group]! : []
  }

  /** Rows `first` to `last` of the sheet belong to the group. */
  extend(group: number, first: number, last: number): void {
    if (group < 0) return
    for (const label of this.#covering[group]!) {
      const span = this.#spans.get(label)
      if (span) span.last = last
      else this.#spans.set(label, { first, last })
    }
  }

  /** The row below the rows of one of a group's labels belongs to the labels outside of it. */
  extendAround(group: number, level: number, row: number): void {
    for (const label of this.#covering[group]!) {
      const span = this.#spans.get(label)
      if (label.level < level && span) span.last = row
    }
  }

  /** Merged ranges of the present file so far. */
  merges(): string[] {
    return [...this.#spans]
      .filter(([{ cell, lastColumn }, { first, last }]) => last > first || lastColumn > cell.column)
      .map(([{ cell, lastColumn }, { first, last }]) => {
        return `${cellReference(first, cell.column)}:${cellReference(last, lastColumn)}`
      })
  }

  get count(): number {
    return this.#spans.size
  }

  startFile(): void {
    this.#spans.clear()
  }

  #addLabel(
    columns: number[],
    label: RowGroup['labels'][number],
    group: number,
    { styles, widths }: { styles: StyleBook; widths: readonly number[] },
  ): void {
    const column = columns[label.level]
    if (column === undefined) return
    const lastColumn = lastNeighbour(columns, label.level, label.levels)
    const text = cutToCell(readableText(label.title))
    const all = linesIn({ text, style: label.style, column, columnSpan: lastColumn - column + 1 }, widths)
    const lines = all - Math.max(label.groups, 1) + 1
    const cell = { column, text, style: styles.add(label.style), lines }
    const entry = { cell, level: label.level, lastColumn }
    this.#starting[group]!.push(cell)
    const end = Math.min(group + Math.max(label.groups, 1), this.#covering.length)
    for (let covered = group; covered < end; covered += 1) this.#covering[covered]!.push(entry)
  }
}

/** Label columns that are not adjacent cannot be merged. */
export function lastNeighbour(columns: number[], level: number, levels: number): number {
  let last = columns[level]!
  for (let next = level + 1; next < level + levels && columns[next] === last + 1; next += 1) last += 1
  return last
}
