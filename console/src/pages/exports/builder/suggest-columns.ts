import type { TreeNode } from './template-tree.ts'

const DATE = /^\d{4}-\d{2}-\d{2}$/
const MOMENT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/

/** A column for a key, by what its first values look like. Everything of it can be changed. */
export function suggestColumn(name: string, values: readonly unknown[]): TreeNode {
  const known = values.filter((value) => value !== null && value !== undefined && value !== '')
  const are = (test: (value: unknown) => boolean) => known.length > 0 && known.every(test)
  const isText = (pattern: RegExp) => are((value) => typeof value === 'string' && pattern.test(value))
  // No title: the header is the key, as in the sheet, until somebody says otherwise.
  const settings = { name }
  if (are((value) => typeof value === 'number'))
    return { settings: { ...settings, align: 'right' }, children: null }
  if (are((value) => typeof value === 'boolean'))
    return { settings: { ...settings, type: 'boolean' }, children: null }
  if (isText(DATE)) return { settings: { ...settings, type: 'date' }, children: null }
  if (isText(MOMENT)) return { settings: { ...settings, type: 'datetime' }, children: null }
  return { settings: { ...settings, align: 'left' }, children: null }
}
