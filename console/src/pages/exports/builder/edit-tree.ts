import type { Settings, TreeNode } from './template-tree.ts'

export type Forest = readonly TreeNode[]
/** Where a node is: its place among its siblings, after those of everything above it. */
export type Path = readonly number[]

export interface Edited {
  forest: Forest
  /** Where the node is that was edited. */
  path: Path
}

export function nodeAt(forest: Forest, path: Path): TreeNode | undefined {
  const [first, ...rest] = path
  const node = forest[first ?? -1]
  return rest.length === 0 ? node : node && nodeAt(node.children ?? [], rest)
}

/** The siblings at `parent` as `change` leaves them. A group that loses its last child is taken out: it heads nothing. */
function changeList(forest: Forest, parent: Path, change: (siblings: Forest) => Forest): Forest {
  const [first, ...rest] = parent
  if (first === undefined) return change(forest)
  return forest.flatMap((node, index) => {
    if (index !== first) return [node]
    const children = changeList(node.children ?? [], rest, change)
    return children.length === 0 ? [] : [{ ...node, children }]
  })
}

export function setSettings(forest: Forest, path: Path, settings: Settings): Forest {
  const index = path.at(-1) as number
  return changeList(forest, path.slice(0, -1), (siblings) =>
    siblings.map((node, place) => (place === index ? { ...node, settings } : node)),
  )
}

export function insertAt(forest: Forest, path: Path, nodes: readonly TreeNode[]): Forest {
  return changeList(forest, path.slice(0, -1), (siblings) =>
    siblings.toSpliced(path.at(-1) ?? 0, 0, ...nodes),
  )
}

export function removeAt(forest: Forest, path: Path): Forest {
  return changeList(forest, path.slice(0, -1), (siblings) => siblings.toSpliced(path.at(-1) as number, 1))
}

function comparePaths(a: Path, b: Path): number {
  for (let depth = 0; depth < Math.max(a.length, b.length); depth++) {
    const difference = (a[depth] ?? -1) - (b[depth] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

export function isWithin(path: Path, above: Path): boolean {
  return above.length <= path.length && above.every((place, depth) => path[depth] === place)
}

/** Takes the node at `from` to where `to` is now. Nothing goes into itself. */
export function moveTo(forest: Forest, from: Path, to: Path): Edited {
  const node = nodeAt(forest, from)
  if (!node || isWithin(to, from)) return { forest, path: from }
  // Put in first, so that no group is emptied and taken out before its place is known.
  const isBefore = comparePaths(to, from) <= 0
  const inserted = insertAt(forest, to, [node])
  const old = isBefore ? shifted(from, to, 1) : from
  const removed = removeAt(inserted, old)
  return { forest: removed, path: find(removed, node) ?? to }
}

/** `path` after so many nodes were put in at `at`. */
function shifted(path: Path, at: Path, count: number): Path {
  const depth = at.length - 1
  const isBeside = path.length > depth && at.slice(0, depth).every((place, level) => path[level] === place)
  if (!isBeside || (path[depth] as number) < (at[depth] as number)) return path
  return path.with(depth, (path[depth] as number) + count)
}

function find(forest: Forest, wanted: TreeNode, above: Path = []): Path | undefined {
  for (const [index, node] of forest.entries()) {
    const path = [...above, index]
    if (node === wanted) return path
    const found = find(node.children ?? [], wanted, path)
    if (found) return found
  }
  return undefined
}

export type Step = 'up' | 'down' | 'in' | 'out'

/** Where a step leads, if it leads anywhere. Past the end of its group a node leaves the group; `in` goes to a group beside it. */
export function stepFrom(forest: Forest, path: Path, step: Step): Path | undefined {
  const parent = path.slice(0, -1)
  const index = path.at(-1) as number
  const siblings = parent.length === 0 ? forest : (nodeAt(forest, parent)?.children ?? [])
  const isLast = index === siblings.length - 1
  const afterParent = parent.length === 0 ? undefined : parent.with(-1, (parent.at(-1) as number) + 1)
  if (step === 'out') return afterParent
  if (step === 'up') return index > 0 ? [...parent, index - 1] : parent.length > 0 ? parent : undefined
  if (step === 'down') return isLast ? afterParent : [...parent, index + 2]
  const before = siblings[index - 1]
  if (before?.children) return [...parent, index - 1, before.children.length]
  return siblings[index + 1]?.children ? [...parent, index + 1, 0] : undefined
}

/** Puts the nodes under a new group, which takes the place of the first. What is inside another of them goes with that one. */
export function groupNodes(forest: Forest, paths: readonly Path[], title: string): Edited {
  const sorted = paths.toSorted(comparePaths)
  const tops = sorted.filter((path) => !sorted.some((above) => above !== path && isWithin(path, above)))
  const nodes = tops.flatMap((path) => nodeAt(forest, path) ?? [])
  const first = tops[0]
  if (!first || nodes.length === 0) return { forest, path: [] }
  const group: TreeNode = { settings: { title }, children: nodes }
  const inserted = insertAt(forest, first, [group])
  const removed = tops
    .map((path) => shifted(path, first, 1))
    .reverse()
    .reduce((rest, path) => removeAt(rest, path), inserted)
  return { forest: removed, path: find(removed, group) ?? first }
}

/** The children in place of their group. */
export function ungroup(forest: Forest, path: Path): Forest {
  const node = nodeAt(forest, path)
  if (!node?.children) return forest
  const own = path.with(-1, (path.at(-1) as number) + node.children.length)
  return removeAt(insertAt(forest, path, node.children), own)
}

/** A node with its setting, or without it where nothing is said. */
export function withSetting(settings: Settings, name: string, value: unknown): Settings {
  const { [name]: _, ...others } = settings
  const isNothing = value === undefined || value === '' || value === null
  return isNothing ? others : name in settings ? { ...settings, [name]: value } : { ...others, [name]: value }
}

/** Keys that the columns show. */
export function namesIn(forest: Forest): Set<string> {
  return new Set(
    forest.flatMap(({ settings, children }) =>
      children ? [...namesIn(children)] : settings.name === undefined ? [] : [String(settings.name)],
    ),
  )
}
