import type { RowHeads } from '../sheet/index.ts'

/** A row header that has a row of subtotals below its rows. */
export interface EndedHead {
  level: number
  title: string
  /** Leaves that it covers. */
  first: number
  last: number
}

/**
 * By leaf: the row headers that end with it, the innermost first. One that covers a single row has no subtotal, nor has one
 * whose only child has it already.
 */
export function endedHeads({ groups }: RowHeads, rows: readonly number[]): EndedHead[][] {
  const ends = groups.map((): EndedHead[] => [])
  groups.forEach(({ labels }, first) => {
    for (const { level, groups: span, title } of labels) {
      const last = Math.min(first + Math.max(span, 1), groups.length) - 1
      const covered = rows.slice(first, last + 1).reduce((sum, count) => sum + count, 0)
      const hasOnlyChild = labels.some((other) => other.level > level && other.groups === span)
      if (covered > 1 && !hasOnlyChild) ends[last]!.push({ level, title, first, last })
    }
  })
  for (const heads of ends) heads.sort((a, b) => b.level - a.level)
  return ends
}

/** By leaf: the row headers that cover it. */
export function coveringHeads(ends: readonly (readonly EndedHead[])[]): EndedHead[][] {
  const covering = ends.map((): EndedHead[] => [])
  for (const head of ends.flat())
    for (let group = head.first; group <= head.last; group += 1) covering[group]!.push(head)
  return covering
}
