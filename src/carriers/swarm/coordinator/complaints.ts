import type { PeerId } from '../wire/index.ts'

export type Judgement =
  /** The parent is to blame: it becomes a leaf. */
  | { blame: 'parent' }
  /** The complainer reaches nobody: it takes from the source itself. */
  | { blame: 'line' }
  /** Whatever reaches the complainer is bad: its word counts no more, and these are cleared. */
  | { blame: 'complainer'; cleared: PeerId[] }

/** So many parents that cannot be reached, or sent bad bytes, and it is the complainer that has the trouble. */
const PARENTS_OUT_OF_REACH = 2
const PARENTS_CALLED_LIARS = 3

/** Weighs what agents say about their parents: one word sets a parent aside, but nobody can accuse them all. */
export class Complaints {
  readonly #unreachable = new Map<PeerId, Set<PeerId>>()
  readonly #liars = new Map<PeerId, Set<PeerId>>()

  outOfReach(child: PeerId, parent: PeerId): Judgement {
    const parents = noted(this.#unreachable, child, parent)
    return parents.size > PARENTS_OUT_OF_REACH ? { blame: 'line' } : { blame: 'parent' }
  }

  badPiece(child: PeerId, parent: PeerId): Judgement {
    const parents = noted(this.#liars, child, parent)
    if (parents.size < PARENTS_CALLED_LIARS) return { blame: 'parent' }
    const others = [...this.#liars].filter(([accuser]) => accuser !== child)
    const cleared = [...parents].filter((liar) => !others.some(([, named]) => named.has(liar)))
    return { blame: 'complainer', cleared }
  }
}

function noted(notes: Map<PeerId, Set<PeerId>>, child: PeerId, parent: PeerId): Set<PeerId> {
  const parents = notes.get(child) ?? new Set()
  parents.add(parent)
  notes.set(child, parents)
  return parents
}
