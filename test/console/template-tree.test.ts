import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  OPERATORS,
  readCondition,
  writeCondition,
} from '../../console/src/pages/exports/builder/condition-text.ts'
import {
  groupNodes,
  insertAt,
  moveTo,
  namesIn,
  nodeAt,
  removeAt,
  setSettings,
  stepFrom,
  ungroup,
} from '../../console/src/pages/exports/builder/edit-tree.ts'
import {
  readTemplate,
  type TemplateTree,
  type TreeNode,
  writeTemplate,
} from '../../console/src/pages/exports/builder/template-tree.ts'
import { parseTemplate } from '../../src/exports/template/index.ts'
import { parseKeepingOrder } from '../../src/kernel/index.ts'

function treeOf(text: string): TemplateTree {
  const reading = readTemplate(text)
  if (reading.kind !== 'tree') throw new Error(`${reading.kind}: ${text}`)
  return reading.tree
}

const again = (text: string) => writeTemplate(treeOf(text))
/** What the server makes of it. */
const meant = (text: string) => parseTemplate(parseKeepingOrder(text))

const column = (name: string): TreeNode => ({ settings: { name }, children: null })
const group = (title: string, ...children: TreeNode[]): TreeNode => ({ settings: { title }, children })
const shape = (nodes: readonly TreeNode[]): string =>
  nodes
    .map(({ settings, children }) => (children ? `${settings.title}(${shape(children)})` : settings.name))
    .join(' ')

describe('a template as a tree', () => {
  test.each([
    '{"id": "Order", "2024": "Last year", "2023": "Before", "x": null}',
    '[{"name": "id", "title": "Order"}, {"title": "Amounts", "children": [{"name": "amount", "type": "money", "totals": "sum"}]}]',
    '{"ceil": [{"name": "item"}, {"name": "sum", "totals": "sum"}], "row": [{"title": "North", "children": [{"name": "oslo", "row_count": 2}]}], "subtotals": true}',
    '{"col": {"b": "B", "1": "One"}, "row": [{"name": "oslo"}]}',
    '{"row": [{"name": "oslo"}, {"name": "kiel"}]}',
    '{"0": {"name": "a"}, "2": {"name": "b"}}',
    '{"title": "All", "children": [{"name": "a"}]}',
    '[{"name": "use"}]',
    '[{"name": "a", "condition_style": [{"condition": "< 0", "color": "red", "bold": true}], "v-align": "top"}]',
  ])('means the same to the server after it was read and written: %s', (text) => {
    expect(meant(again(text))).toEqual(meant(text))
    expect(again(again(text))).toBe(again(text))
  })

  test('fields that the form does not know are kept', () => {
    const text =
      '[{"name": "a", "later": {"deep": [1, {"x": null}]}}, {"title": "G", "new": 1, "children": [{"name": "b"}]}]'
    expect(JSON.parse(again(text))).toEqual(JSON.parse(text))
    const { columns } = treeOf(text)
    const changed = setSettings(columns, [0], { ...columns[0]?.settings, title: 'A' })
    expect(nodeAt(changed, [0])?.settings).toEqual({
      name: 'a',
      title: 'A',
      later: { deep: [1, { x: null }] },
    })
  })

  test('what the form would lose is left to the text', () => {
    for (const text of ['[{"name": 12345678901234567890}]', '{"a": {"b": 1}}', '[1]', '[', '"x"'])
      expect(readTemplate(text), text).toEqual({ kind: 'text only' })
    expect(readTemplate('{"use": "orders"}')).toEqual({ kind: 'use', name: 'orders' })
    expect(again('')).toBe('')
  })
})

describe('edits of the tree', () => {
  const forest = [column('a'), group('G', column('b'), group('H', column('c'))), column('d')]

  test('steps lead past a group, into it and out of it, by the keyboard as by the mouse', () => {
    const step = (from: number[], way: 'up' | 'down' | 'in' | 'out') => {
      const to = stepFrom(forest, from, way)
      return to && shape(moveTo(forest, from, to).forest)
    }
    expect(step([0], 'down')).toBe('G(b H(c)) a d')
    expect(step([2], 'up')).toBe('a d G(b H(c))')
    expect(step([2], 'in')).toBe('a G(b H(c) d)')
    expect(step([0], 'in')).toBe('G(a b H(c)) d')
    expect(step([1, 0], 'out')).toBe('a G(H(c)) b d')
    expect(step([1, 0], 'up')).toBe('a b G(H(c)) d')
    expect(step([1, 1, 0], 'out')).toBe('a G(b c) d')
    expect(step([0], 'up')).toBeUndefined()
    expect(step([2], 'down')).toBeUndefined()
  })

  test('nodes are put under a new header in their order, and taken from under it', () => {
    const { forest: grouped, path } = groupNodes(forest, [[2], [1, 1, 0], [0]], 'N')
    expect(shape(grouped)).toBe('N(a c d) G(b)')
    expect(path).toEqual([0])
    expect(shape(ungroup(grouped, [0]))).toBe('a c d G(b)')
    expect(shape(ungroup([group('G', group('H', column('a')))], [0, 0]))).toBe('G(a)')
  })

  test('no move loses or doubles a column, goes into itself or leaves a header over nothing', () => {
    const tree = fc.letrec<{ node: TreeNode }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.uuid().map(column),
        fc
          .tuple(fc.uuid(), fc.array(tie('node'), { minLength: 1, maxLength: 3 }))
          .map(([title, children]) => group(title, ...children)),
      ),
    })).node
    const path = fc.array(fc.nat(3), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), path, path, (nodes, from, to) => {
        const parent = nodeAt(nodes, to.slice(0, -1))
        fc.pre(nodeAt(nodes, from) !== undefined && (to.length === 1 || Boolean(parent?.children)))
        const node = nodeAt(nodes, from)
        const moved = moveTo(nodes, from, to)
        expect([...namesIn(moved.forest)].sort()).toEqual([...namesIn(nodes)].sort())
        expect(shape(moved.forest)).not.toContain('()')
        expect(nodeAt(moved.forest, moved.path)).toBe(node)
      }),
    )
  })

  test('what is put in can be taken out again', () => {
    expect(shape(removeAt(insertAt(forest, [1, 1], [column('x')]), [1, 1]))).toBe(shape(forest))
  })
})

test('a condition by form is the condition in the text, and others stay a text', () => {
  fc.assert(
    fc.property(fc.constantFrom(...OPERATORS), fc.string(), (operator, value) => {
      const simple = { operator, value: operator === 'empty' ? '' : value }
      const text = writeCondition(simple)
      expect(readCondition(text)).toEqual(simple)
      meant(JSON.stringify([{ name: 'a', condition_style: [{ condition: text, bold: true }] }]))
    }),
    { numRuns: 200 },
  )
  for (const text of ['>= 0 or <= -10', "in ('a', 'b')", "like '%a%b%'", "= '5'", "like '_a%'", 'not = 1'])
    expect(readCondition(text), text).toBeUndefined()
})
