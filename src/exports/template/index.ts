export { chooseContent, type SheetContent, type TemplateFrom, templateOverruled } from './choose-content.ts'
export type { ColumnNode } from './column-node.ts'
export { type CellTest, compileCondition } from './compile-condition.ts'
export type { Condition } from './condition.ts'
export { CONDITION_LIMITS, parseCondition } from './condition-parser.ts'
export { csvHeader, csvRowLabels } from './csv-header.ts'
export { fillTypes } from './fill-types.ts'
export { type HeaderContent, type Pair, parseHeader } from './header-pairs.ts'
export { markIntegerKeys, parseKeepingOrder, plainKey, stringifyKeepingOrder } from './key-order.ts'
export { MAX_AREA_COLUMNS, planSheet, type SheetRequest } from './plan-sheet.ts'
export { type RowNode, rowDepth, rowLeaves } from './row-node.ts'
export {
  COLUMN_LIMITS,
  parseTemplate,
  ROW_HEAD_NAMES,
  ROW_LIMITS,
  type Template,
  type TemplateOptions,
  templateFromKeys,
} from './template.ts'
export { templateError } from './template-error.ts'
export { THEMES, type ThemeName } from './themes.ts'
