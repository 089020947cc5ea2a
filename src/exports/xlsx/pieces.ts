import { AppError, ERRORS } from '../../kernel/index.ts'
import type { SheetPlan } from '../sheet/index.ts'
import { type EndedHead, endedHeads } from './subtotal-heads.ts'

/** One file of the spool with its index, see `SPOOL.md`. Segments of a sheet follow one another in the given order. */
export interface SpoolSegment {
  path: string
  slices: { offset: number; bytes: number; rows: number }[]
  /** With row headers: the name of the group that these rows belong to. */
  group?: string
}

/** Rows of one slice, from the one numbered `skip` on. */
export interface SliceRows {
  path: string
  offset: number
  bytes: number
  skip: number
  /** The piece takes all rows up to the slice's end, so none may be left over. */
  toEnd: boolean
}

/** Rows that are written in one go: those of a slice, some of them, or rows without data. */
export interface Piece {
  /** Position among the plan's row groups; -1 without row headers. */
  group: number
  /** The first rows of their group, which show its labels. */
  startsGroup: boolean
  source: SliceRows | null
  rows: number
  /** Spool bytes of these rows, more or less: what the compressed size is guessed from. */
  weight: number
  /** Row headers that end with these rows and have a row of their own below, the innermost first. */
  ends: readonly EndedHead[]
}

export function piecesOf(plan: SheetPlan, segments: readonly SpoolSegment[]): Piece[] {
  const { rowHeads } = plan
  if (!rowHeads) return segments.flatMap((segment) => slicePieces(segment, -1))
  const byGroup = Map.groupBy(segments, (segment) => segment.group)
  const names = new Set<string | undefined>(rowHeads.groups.map(({ name }) => name))
  for (const [name, found] of byGroup) {
    if (!names.has(name) && found.some(({ slices }) => slices.length > 0))
      throw new AppError(ERRORS.INTERNAL, `rows of "${name ?? ''}" belong to no row header of the sheet`)
  }
  const all = rowHeads.groups.map(({ name, reserve = 0 }, group) => {
    const pieces = (byGroup.get(name) ?? []).flatMap((segment) => slicePieces(segment, group))
    const blank = Math.max(reserve, 1) - pieces.reduce((sum, piece) => sum + piece.rows, 0)
    if (blank > 0)
      pieces.push({ group, startsGroup: false, source: null, rows: blank, weight: blank * 8, ends: [] })
    pieces[0]!.startsGroup = true
    return pieces
  })
  if (plan.totals?.subtotalEnding !== undefined) {
    const rows = all.map((pieces) => pieces.reduce((sum, piece) => sum + piece.rows, 0))
    for (const [group, ends] of endedHeads(rowHeads, rows).entries()) all[group]!.at(-1)!.ends = ends
  }
  return all.flat()
}

function slicePieces({ path, slices }: SpoolSegment, group: number): Piece[] {
  return slices
    .filter(({ rows }) => rows > 0)
    .map(({ offset, bytes, rows }) => {
      return {
        group,
        startsGroup: false,
        source: { path, offset, bytes, skip: 0, toEnd: true },
        rows,
        weight: bytes,
        ends: [],
      }
    })
}

/** The first `rows` rows of a piece, and the others. */
export function splitPiece(piece: Piece, rows: number): [Piece, Piece] {
  const { group, startsGroup, source, weight } = piece
  const share = (weight * rows) / piece.rows
  return [
    { group, startsGroup, source: source && { ...source, toEnd: false }, rows, weight: share, ends: [] },
    {
      group,
      startsGroup: false,
      source: source && { ...source, skip: source.skip + rows },
      rows: piece.rows - rows,
      weight: weight - share,
      ends: piece.ends,
    },
  ]
}
