export {
  addFacts,
  type ColumnCounts,
  CUTS,
  countsOf,
  ESCAPES,
  FACTS,
  LONG,
  LONGEST,
  MISFITS,
  NULLS,
  noFacts,
  ROUNDED,
} from './column-facts.ts'
export { disarm, FORMULA_START, isFormula } from './disarm.ts'
export { displayWidth } from './display-width.ts'
export { type FieldDigits, mostDigits, NO_DIGITS } from './field-digits.ts'
export { checkOf, fitsType, plainFits, textFits, UNCHECKED } from './fits-type.ts'
export { ASCII_WIDTHS, glyphWidth, WIDEST_ASCII } from './glyph-width.ts'
export { dateOfDigits, excelSerialMillis, readIsoDate } from './iso-date.ts'
export { LengthMeter } from './length-meter.ts'
export { LINK_LOOK, linkTarget, withoutLinkLook } from './link-target.ts'
export { MASKS, type Mask, type Masking, maskValue } from './mask.ts'
export { misfitWarnings } from './misfit-warnings.ts'
export { NESTED } from './nested-mark.ts'
export {
  BUILT_IN_FORMATS,
  defaultFormat,
  formatFault,
  isUsableFormat,
  shownMillis,
  showsTime,
} from './number-format.ts'
export type {
  CellStyle,
  CellType,
  DataColumn,
  FixedArea,
  FixedCell,
  RichRun,
  RowGroup,
  RowHeads,
  SheetPlan,
  Total,
  TotalsPlan,
} from './sheet-plan.ts'
export { shownText } from './shown-text.ts'
export { isSmall, type SmallNumbers, smallNumbers } from './small-numbers.ts'
export { Timezone } from './timezone.ts'
export { fitsLine, type Line, textLines, wrappedLines } from './wrapped-lines.ts'
