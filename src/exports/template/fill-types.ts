import type { CellType } from '../sheet/index.ts'
import { type ColumnNode, DEFAULT_FORMATS } from './nodes/column-node.ts'
import { leavesOf, type Template } from './template.ts'

/** The template with a type for each leaf that has none and whose name has one. */
export function fillTypes(template: Template, types: ReadonlyMap<string, string>): Template {
  const fill = (node: ColumnNode): ColumnNode => {
    const type = (node.name !== null && types.get(node.name)) as CellType | false | undefined
    if (node.children.length > 0) return { ...node, children: node.children.map(fill) }
    if (!type || node.type !== 'auto') return node
    const format = node.style.format ?? DEFAULT_FORMATS[type]
    return { ...node, type, style: { ...node.style, ...(format !== undefined && { format }) } }
  }
  const columns = template.columns.map(fill)
  return { ...template, columns, leaves: leavesOf(columns) }
}
