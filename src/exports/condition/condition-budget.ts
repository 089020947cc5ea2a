import { AppError, ERRORS } from '../../kernel/index.ts'
import type { Condition } from './condition.ts'
import { likeScans } from './like-pattern.ts'

/** What testing one cell may cost. */
export interface ConditionCost {
  /** Tests whose cost does not depend on how long the cell's text is; each value of an `in` is one. */
  comparisons: number
  /** How often each character of the cell's text may be looked at. */
  scans: number
}

/**
 * What the conditions of a template may cost: of one cell, and of all cells of a row together. A row is then built in a time
 * that grows with its own size alone, and by a factor that is stated here.
 */
export const CONDITION_COSTS = {
  cell: { comparisons: 1_000, scans: 64 },
  row: { comparisons: 20_000, scans: 1_024 },
} as const satisfies Record<string, ConditionCost>

/** Characters of all conditions of a template: what reading them costs. */
const MAX_TEXT = 500_000

export function costOf(condition: Condition): ConditionCost {
  switch (condition.op) {
    case 'and':
    case 'or':
      return sum(costOf(condition.left), costOf(condition.right))
    case 'not':
      return costOf(condition.inner)
    case 'in':
      return { comparisons: condition.values.length, scans: 0 }
    case 'like':
      return { comparisons: 1, scans: likeScans(condition.pattern) }
    default:
      return { comparisons: 1, scans: 0 }
  }
}

/** Adds up what a template's conditions cost while they are read, and refuses the one that makes it too much. */
export class ConditionBudget {
  #text = 0
  #row: ConditionCost = { comparisons: 0, scans: 0 }

  /** Before a condition is read. */
  takeText(text: string, path: string): void {
    this.#text += text.length
    if (this.#text > MAX_TEXT)
      throw tooCostly(path, 'characters of conditions', {
        cost: this.#text,
        limit: MAX_TEXT,
        per: 'template',
      })
  }

  /** All conditions of one column. */
  takeCell(conditions: readonly Condition[], path: string): void {
    const cell = conditions.map(costOf).reduce(sum, { comparisons: 0, scans: 0 })
    this.#row = sum(this.#row, cell)
    for (const [per, cost] of [
      ['cell', cell],
      ['row', this.#row],
    ] as const) {
      const limits = CONDITION_COSTS[per]
      for (const what of ['comparisons', 'scans'] as const)
        if (cost[what] > limits[what])
          throw tooCostly(path, WORDS[what], { cost: cost[what], limit: limits[what], per })
    }
  }
}

const WORDS = { comparisons: 'comparisons', scans: "passes over a text by like '%…%'" }

/** A template that costs too much stays so: never tried again. */
export function tooCostly(
  path: string,
  what: string,
  { cost, limit, per }: { cost: number; limit: number; per: 'cell' | 'row' | 'template' },
): AppError {
  const message = `${path}: the template costs ${cost} ${what} per ${per}, and may cost ${limit}`
  return new AppError(ERRORS.TEMPLATE_TOO_COSTLY, message, {
    details: { path, cost, limit },
    retryable: false,
  })
}

function sum(a: ConditionCost, b: ConditionCost): ConditionCost {
  return { comparisons: a.comparisons + b.comparisons, scans: a.scans + b.scans }
}
