import type { Condition, LongNumber, ReadDate } from '../../condition/index.ts'

type CellValue = string | number | LongNumber | boolean | null
export type CompileCondition = (
  condition: Condition,
  readDate?: ReadDate,
) => (value: CellValue, date?: number) => boolean
/** `date`: that of the cell, in a date column. */
export type PickVariant = (value: CellValue, date?: number) => number

/**
 * Which of a column's conditions holds for a value: 0 none, else the position of the first one that does, from 1. That
 * number is also the position of the cell's style among the column's variants.
 */
export function conditionPicker(
  conditions: readonly Condition[],
  compile: CompileCondition,
  readDate?: ReadDate,
): PickVariant {
  const tests = conditions.map((condition) => compile(condition, readDate))
  return (value, date) => tests.findIndex((test) => test(value, date)) + 1
}
