import type { TreeNode } from './template-tree.ts'

/** What stands in its header cell. */
export function nameOf({ settings: { title, name } }: TreeNode): string {
  return String(title ?? name ?? '')
}
