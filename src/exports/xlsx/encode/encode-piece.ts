import { isUtf8 } from 'node:buffer'
import { readSliceSync } from '../../../kernel/index.ts'
import { FACTS, NULLS, noFacts, Timezone } from '../../sheet/index.ts'
import type { CellLink } from '../parts/index.ts'
import type { SliceRows } from '../pieces.ts'
import type { DeflatedBlock } from '../zip/deflate-block.ts'
import { CLASSES, CLASSES_WITH_NON_CHARACTERS, NEWLINE } from './byte-classes.ts'
import { FILLED, TOTALS } from './column-totals.ts'
import { CompiledColumn } from './compiled-column.ts'
import type { CompileCondition } from './condition-styles.ts'
import { Cursor, PADDING } from './cursor.ts'
import {
  encodeBlankRows,
  encodeRows,
  type HeadCell,
  MAX_LINES,
  type SheetColumns,
  skipRows,
} from './row-encoder.ts'
import type { SheetRecipe } from './sheet-recipe.ts'
import { SpoolBroken } from './spool-broken.ts'

/** Rows of one slice, or rows without data, to be written at a certain place of a sheet. */
export interface PieceTask {
  recipe: SheetRecipe
  /** null: the rows are blank. */
  source: SliceRows | null
  rows: number
  firstRow: number
  heads: HeadCell[]
}

export interface EncodedPiece extends DeflatedBlock {
  /** See `column-facts.ts`. */
  facts: Float64Array
  /** See `column-totals.ts`; empty where no column has a total. */
  totals: Float64Array
  firstCut: string | null
  pictured: number
  firstPictured: string | null
  replaced: number
  firstReplaced: string | null
  links: CellLink[]
}

interface CompiledSheet extends SheetColumns {
  zone: Timezone
  totals: boolean
}

const KEPT_INPUT = 6 << 20
const KEPT_RECIPES = 16
const FFFE = Buffer.from([0xef, 0xbf, 0xbe])
const FFFF = Buffer.from([0xef, 0xbf, 0xbf])

/** One thread's workshop: buffers and compiled recipes are kept from piece to piece. */
export class PieceEncoder {
  readonly #compile: CompileCondition
  readonly #sheets = new Map<number, CompiledSheet>()
  readonly #cursor = new Cursor(new Timezone('UTC'))
  #buffer = Buffer.alloc(0)

  constructor(compile: CompileCondition) {
    this.#compile = compile
  }

  encode({ recipe, source, rows, firstRow, heads }: PieceTask): EncodedPiece {
    const sheet = this.#sheet(recipe)
    const c = this.#cursor
    const { zone, totals } = sheet
    const columns = sheet.columns.length
    if (source === null) {
      c.begin(this.#buffer, 0, { classes: CLASSES, zone, columns, totals })
      encodeBlankRows(c, sheet, rows, firstRow, heads)
    } else {
      const input = this.#read(source)
      const odd = input.includes(FFFE) || input.includes(FFFF)
      const classes = odd ? CLASSES_WITH_NON_CHARACTERS : CLASSES
      c.begin(input, input.length - 1, { classes, zone, columns, totals })
      skipRows(c, source.skip)
      encodeRows(c, sheet, rows, firstRow, heads)
      if (source.toEnd && c.i < c.end) throw new SpoolBroken('a slice has more rows than its index says')
    }
    // Rows that are only kept free hold no values that were empty.
    const facts = source === null ? noFacts(columns) : c.facts
    if (source !== null) countFilled(c, rows)
    const { firstCut, pictured, firstPictured, replaced, firstReplaced, links, totals: added } = c
    const odd = { firstCut, pictured, firstPictured, replaced, firstReplaced }
    return { ...c.finish(), facts, totals: added, ...odd, links }
  }

  #sheet(recipe: SheetRecipe): CompiledSheet {
    const known = this.#sheets.get(recipe.id)
    if (known) return known
    const openings = new Map<string, number>()
    const zone = new Timezone(recipe.timezone)
    const using = { compile: this.#compile, zone }
    const columns = recipe.columns.map((column, n) => new CompiledColumn(column, n, openings, using))
    const fields = columns.map((column) => column.field).filter((field) => field >= 0)
    const height =
      recipe.rowHeight === null ? '' : ` ht="${Math.min(recipe.rowHeight, 409)}" customHeight="1"`
    const sheet = {
      columns,
      inOrder: fields.every((field, n) => n === 0 || field > fields[n - 1]!),
      rowEnd: Buffer.from(`"${height}>`),
      fits: recipe.rowHeight === null && columns.some(({ room, field }) => room > 0 || field < 0),
      heights: lineHeights(recipe),
      mostLines: recipe.mostLines,
      zone,
      totals: recipe.columns.some(({ total }) => total),
    }
    if (this.#sheets.size === KEPT_RECIPES) this.#sheets.delete(this.#sheets.keys().next().value!)
    this.#sheets.set(recipe.id, sheet)
    return sheet
  }

  /** The slice, followed by one line feed that stops a scan of a spool whose end is missing. */
  #read(slice: { path: string; offset: number; bytes: number }): Buffer {
    const { bytes } = slice
    if (this.#buffer.length <= bytes + PADDING || this.#buffer.length > KEPT_INPUT) {
      this.#buffer = Buffer.alloc(Math.max(bytes + 1 + PADDING, 5 << 20))
    }
    if (!readSliceSync(slice, this.#buffer)) throw new SpoolBroken('the spool ends inside a slice')
    this.#buffer[bytes] = NEWLINE
    const records = this.#buffer.subarray(0, bytes + 1)
    return isUtf8(records) ? records : repair(records)
  }
}

/** What is not empty is filled, so that no cell has to be counted for it. */
function countFilled({ totals, facts }: Cursor, rows: number): void {
  for (let column = 0; column * TOTALS < totals.length; column += 1)
    totals[column * TOTALS + FILLED] = rows - facts[column * FACTS + NULLS]!
}

/** By number of lines: what a row's tag says of its height. */
function lineHeights({ line, rowPadding }: SheetRecipe): Uint8Array[] {
  return Array.from({ length: MAX_LINES + 1 }, (_, lines) =>
    Buffer.from(` ht="${Math.min(line * lines + rowPadding, 409)}"`),
  )
}

/** Bytes that are no UTF-8 become U+FFFD; commas, quotes and line feeds stay where they are. */
function repair(bytes: Buffer): Buffer {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const repaired = Buffer.alloc(Buffer.byteLength(text) + PADDING)
  return repaired.subarray(0, repaired.write(text))
}
