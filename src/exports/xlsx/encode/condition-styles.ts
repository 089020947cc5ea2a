import type { Condition } from '../../condition/index.ts'

export type CellValue = string | number | boolean | null
export type CompileCondition = (condition: Condition) => (value: CellValue) => boolean

/**
 * Which of a column's conditions holds for a value: 0 none, else the position of the first one that does, from 1. That
 * number is also the position of the cell's style among the column's variants.
 */
export function conditionPicker(
  conditions: readonly Condition[],
  compile: CompileCondition,
): (value: CellValue) => number {
  const tests = conditions.map((condition) => compile(condition))
  return (value) => tests.findIndex((test) => test(value)) + 1
}
