import type { SegmentState } from '../rows/index.ts'
import type { SpoolMeta } from './spool-meta.ts'

export interface OrderedSegment {
  /** By which its file is named. */
  number: number
  /** Position of its range. */
  range: number
  state: SegmentState
  /** Its range has been read to the end. */
  complete: boolean
  /** Name of the row header's leaf that these rows belong to. */
  group: string | undefined
}

/** The segments in the order of the rows: by row header first, and within one by range. */
export function inFileOrder({ ranges, rowNames }: Pick<SpoolMeta, 'ranges' | 'rowNames'>): OrderedSegment[] {
  const groups: readonly (string | undefined)[] = rowNames ?? [undefined]
  return groups.flatMap((group, place) =>
    ranges.map(({ segments, next, end }, index) => ({
      number: index * groups.length + place,
      range: index,
      state: segments[place]!,
      complete: next === end,
      group,
    })),
  )
}
