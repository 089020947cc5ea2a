import type { RowGroup, RowHeads } from '../../sheet/index.ts'
import type { Theme } from '../themes.ts'
import { type RowNode, rowDepth, rowLeaves } from './row-node.ts'

/** One group a leaf, each with the labels that begin at it: a leaf above the deepest level spans what is left of it. */
export function layoutRowHeads(rows: readonly RowNode[], columns: number[], theme: Theme): RowHeads {
  const levels = rowDepth(rows)
  const groups: RowGroup[] = []

  const place = (node: RowNode, level: number, pending: RowGroup['labels']): void => {
    const isLeaf = node.children.length === 0
    const labels = [
      ...pending,
      {
        level,
        levels: isLeaf ? levels - level : 1,
        groups: isLeaf ? 1 : rowLeaves(node.children).length,
        title: node.title,
        style: { ...(isLeaf ? theme.rowHead : theme.groupRowHead(level)), ...node.style },
      },
    ]
    if (isLeaf) {
      groups.push({
        name: node.name ?? '',
        ...(node.reserve === undefined ? {} : { reserve: node.reserve }),
        labels,
      })
    }
    // Only the first child carries what begins above it.
    node.children.forEach((child, i) => {
      place(child, level + 1, i === 0 ? labels : [])
    })
  }
  for (const node of rows) place(node, 0, [])
  return { columns, groups }
}
