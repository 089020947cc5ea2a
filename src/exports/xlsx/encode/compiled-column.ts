import { type CellType, FACTS, type Timezone, WIDEST_ASCII } from '../../sheet/index.ts'
import { markKind } from '../deflate/index.ts'
import { TOTALS } from './column-totals.ts'
import { type CompileCondition, conditionPicker } from './condition-styles.ts'
import { dateReader } from './date-unit.ts'
import type { ColumnRecipe } from './sheet-recipe.ts'
import { TextVariants } from './text-variants.ts'

/** Kinds of cells; a slot of a column is `variant * KINDS + kind`. */
export const TEXT = 0
export const NUMBER = 1
/** A number that is no date, no whole one, or a small one, without its column's format. */
export const BARE = 2
export const BOOLEAN = 3
export const BLANK = 4
export const KINDS = 5

/** How a column treats what it finds, in the order in which the code asks. */
export const AS_FOUND = 0
export const AS_TEXT = 1
const AS_NUMBER = 2
export const AS_INTEGER = 3
export const AS_DATE = 4
export const AS_BOOLEAN = 5

const MODES: Record<CellType, number> = {
  auto: AS_FOUND,
  string: AS_TEXT,
  number: AS_NUMBER,
  money: AS_NUMBER,
  percent: AS_NUMBER,
  integer: AS_INTEGER,
  date: AS_DATE,
  datetime: AS_DATE,
  boolean: AS_BOOLEAN,
  link: AS_TEXT,
}

/**
 * A column made ready: the markup before a value is kept as 8-byte words, because storing a word costs as much as storing
 * a byte. `<c r="AB` is in words 0 and 1, then three words per slot, from `" s="12" t="str"><v>` and the like.
 */
export class CompiledColumn {
  readonly field: number
  /** Where its numbers begin among the cursor's facts, and among its totals; -1 where nothing is added up. */
  readonly facts: number
  readonly totals: number
  readonly letters: string
  readonly mode: number
  readonly unit: number
  readonly words: Float64Array
  readonly lengths: Uint8Array
  readonly headLength: number
  /** By slot: how a cell is marked for compression. */
  readonly marks: Int32Array
  /** By variant: what follows the row number where a text's outer blanks are to be kept, and its mark. */
  readonly keepingOpenings: Uint8Array[]
  readonly keepingMarks: Int32Array
  readonly filled: boolean[]
  /** By variant: its number in the workbook's styles. */
  readonly styles: number[]
  /** Of a line where texts wrap, as `Line` has it; 0 where they do not. */
  readonly room: number
  readonly wide: number
  /** Texts that are addresses become links; the rest is written as this column. Null where there are no links. */
  readonly plain: CompiledColumn | null
  /** Bytes of a text that surely fits into one line. */
  readonly fastRoom: number
  /** Numbers of at least `small` and less than `smallLimit` are bare. */
  readonly small: number
  readonly smallLimit: number
  readonly conditions: TextVariants | null
  readonly nullVariant: number
  /** Added to a variant, for a text that no row is tall enough for. */
  readonly tall: number

  constructor(
    recipe: ColumnRecipe,
    index: number,
    openingNumbers: Map<string, number>,
    { compile, zone }: { compile: CompileCondition; zone: Timezone },
  ) {
    this.field = recipe.field ?? -1
    this.facts = index * FACTS
    this.letters = recipe.letters
    this.mode = MODES[recipe.type]
    this.unit = recipe.unit
    const head = `<c r="${recipe.letters}`
    const openings = recipe.variants.flatMap(({ style, bareStyle, booleanStyle }) => [
      `"${styleAttribute(style)} t="str"><v>`,
      `"${styleAttribute(style)}><v>`,
      `"${styleAttribute(bareStyle)}><v>`,
      `"${styleAttribute(booleanStyle)} t="b"><v>`,
      `"${styleAttribute(style)}/>`,
    ])
    this.headLength = head.length
    this.lengths = Uint8Array.from(openings, (opening) => opening.length)
    const mark = (opening: string) => markKind(index + 1, numberOf(openingNumbers, opening))
    this.marks = Int32Array.from(openings, mark)
    const keeping = recipe.variants.map(
      ({ style }) => `"${styleAttribute(style)} t="inlineStr"><is><t xml:space="preserve">`,
    )
    this.keepingOpenings = keeping.map((opening) => Uint8Array.from(Buffer.from(opening)))
    this.keepingMarks = Int32Array.from(keeping, mark)
    this.words = toWords(
      [head.padEnd(16, ' '), ...openings.map((opening) => opening.padEnd(24, ' '))].join(''),
    )
    this.filled = recipe.variants.map(({ filled }) => filled)
    this.styles = recipe.variants.map(({ style }) => style)
    this.room = recipe.line?.room ?? 0
    this.wide = recipe.line?.wide ?? 0
    this.totals = recipe.total ? index * TOTALS : -1
    this.small = recipe.small?.least ?? 0
    this.smallLimit = recipe.small?.limit ?? 0
    this.plain =
      recipe.plain === null
        ? null
        : new CompiledColumn({ ...recipe, variants: recipe.plain, plain: null }, index, openingNumbers, {
            compile,
            zone,
          })
    this.fastRoom = this.room / WIDEST_ASCII
    this.conditions =
      recipe.conditions.length > 0
        ? new TextVariants(
            conditionPicker(
              recipe.conditions,
              compile,
              this.mode === AS_DATE ? dateReader(zone, this.unit) : undefined,
            ),
          )
        : null
    this.tall = recipe.tall
    this.nullVariant = this.conditions?.pick(null) ?? 0
  }
}

/** 1 for the first, then counting; 0 is for rows. */
function numberOf(numbers: Map<string, number>, opening: string): number {
  const number = numbers.get(opening) ?? numbers.size + 1
  numbers.set(opening, number)
  return number
}

export function styleAttribute(style: number): string {
  return style === 0 ? '' : ` s="${style}"`
}

function toWords(text: string): Float64Array {
  const bytes = Buffer.from(text, 'latin1')
  return Float64Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8))
}
