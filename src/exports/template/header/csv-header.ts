import type { ColumnNode } from '../nodes/column-node.ts'
import { type RowNode, rowDepth } from '../nodes/row-node.ts'
import type { Template } from '../template.ts'

/**
 * Titles of a CSV file's columns: those of the leaves, row headers first. A CSV file has one header row, so groups do not
 * show; where two leaves share a title, the titles of their groups come before it (`Refund / Count`).
 */
export function csvHeader(template: Template): string[] {
  const paths = leafPaths(template.columns, [])
  const plain = paths.filter(({ leaf }) => !leaf.rowHead)
  const seen = new Map<string, number>()
  for (const { leaf } of plain) seen.set(leaf.title, (seen.get(leaf.title) ?? 0) + 1)
  const titles = plain.map(({ leaf, above }) =>
    (seen.get(leaf.title) ?? 0) > 1 ? [...above, leaf.title].join(' / ') : leaf.title,
  )
  const rowHead = paths.find(({ leaf }) => leaf.rowHead)
  // One title for all levels of row headers, over the first of them, as in a sheet.
  const labels = Array.from({ length: rowDepth(template.rows) }, (_, level) =>
    level === 0 ? (rowHead?.leaf.title ?? '') : '',
  )
  return [...labels, ...titles]
}

function leafPaths(nodes: readonly ColumnNode[], above: string[]): { leaf: ColumnNode; above: string[] }[] {
  return nodes.flatMap((node) => {
    if (node.children.length === 0) return [{ leaf: node, above }]
    return leafPaths(node.children, node.title === '' ? above : [...above, node.title])
  })
}

/** The labels before each row of a row leaf, by the leaf's name: its own title and those above it, one a level. */
export function csvRowLabels(template: Template): Map<string, string[]> {
  const levels = rowDepth(template.rows)
  const labels = new Map<string, string[]>()
  const visit = (node: RowNode, above: string[]): void => {
    const path = [...above, node.title]
    if (node.name !== null) labels.set(node.name, [...path, ...Array(levels - path.length).fill('')])
    for (const child of node.children) visit(child, path)
  }
  for (const node of template.rows) visit(node, [])
  return labels
}
