import type { SheetPlan } from '../../sheet/index.ts'
import { cellReference } from '../cell-reference.ts'
import type { StyleBook } from '../parts/index.ts'
import type { Piece } from '../pieces.ts'
import { coveringHeads, type EndedHead } from '../subtotal-heads.ts'
import { lastNeighbour, type RowLabels } from './row-labels.ts'
import { TotalRows } from './total-rows.ts'

/** Bytes of a cell with a formula, uncompressed. */
const CELL_BYTES = 80

/** Totals and subtotals of a sheet: which rows they cover, and which cells their titles take. */
export class SheetTotals {
  readonly #plan: SheetPlan
  readonly #labels: RowLabels
  readonly #rows: TotalRows<EndedHead>
  /** By leaf of the row headers. */
  readonly #covering: EndedHead[][]
  readonly #depth: number
  /** Heads that have rows in more than one file. */
  readonly #split = new Set<EndedHead>()
  #merges: string[] = []

  constructor(
    plan: SheetPlan,
    { styles, labels, pieces }: { styles: StyleBook; labels: RowLabels; pieces: readonly Piece[] },
  ) {
    this.#plan = plan
    this.#labels = labels
    this.#rows = new TotalRows(plan, styles)
    const ends = (plan.rowHeads?.groups ?? []).map((): readonly EndedHead[] => [])
    for (const piece of pieces) if (piece.ends.length > 0) ends[piece.group] = piece.ends
    this.#covering = coveringHeads(ends)
    this.#depth = plan.totals?.subtotalEnding === undefined ? 0 : (plan.rowHeads?.columns.length ?? 0)
  }

  /** Rows that the end of a file may take at most, and their bytes. */
  get rows(): number {
    return this.#depth + 1
  }

  get bytes(): number {
    return this.rows * this.#plan.columns.length * CELL_BYTES
  }

  /** Of the present file. */
  get merges(): readonly string[] {
    return this.#merges
  }

  /** Rows of a group, or of none (-1). */
  add(group: number, rows: { first: number; last: number; totals: Float64Array }): void {
    this.#rows.add(this.#covering[group] ?? [], rows)
  }

  /** Row headers that go on in the next file, the innermost first. */
  openHeads(): EndedHead[] {
    const heads = new Set(this.#covering.flat())
    return [...heads].filter((head) => this.#rows.isOpen(head)).sort((a, b) => b.level - a.level)
  }

  /** `part`: number of the present file. A head that `goesOn` has more rows in the next one. */
  endHead(head: EndedHead, row: number, { part, goesOn }: { part: number; goesOn: boolean }): string {
    const { columns } = this.#plan.rowHeads!
    const column = columns[head.level]!
    this.#labels.extendAround(head.first, head.level, row)
    this.#merge(row, column, lastNeighbour(columns, head.level, columns.length - head.level))
    if (goesOn) this.#split.add(head)
    const { subtotalEnding = '', subtotalPartEnding = subtotalEnding } = this.#plan.totals ?? {}
    const isPart = this.#split.has(head)
    const ending = isPart ? subtotalPartEnding.replace('{n}', String(part)) : subtotalEnding
    return this.#rows.endGroup(head, row, { column, text: `${head.title}${ending}`, wraps: isPart })
  }

  endFile(row: number, part?: number): string {
    const columns = this.#plan.rowHeads?.columns ?? []
    if (columns.length > 0) this.#merge(row, columns[0]!, lastNeighbour(columns, 0, columns.length))
    return this.#rows.endFile(row, part)
  }

  startFile(): void {
    this.#merges = []
  }

  get leftOut() {
    return this.#rows.leftOut
  }

  #merge(row: number, first: number, last: number): void {
    if (last > first) this.#merges.push(`${cellReference(row, first)}:${cellReference(row, last)}`)
  }
}
