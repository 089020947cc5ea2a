import type { TotalsPlan } from '../sheet/index.ts'
import type { ColumnNode } from './nodes/column-node.ts'
import type { RowNode } from './nodes/row-node.ts'
import type { Template } from './template.ts'
import type { Theme } from './themes.ts'

/** In the language of the template's titles: what is written in kana, in Han characters, in anything else. */
const TITLES = {
  japanese: { title: '合計', partTitle: '合計（第{n}部）', subtotalEnding: ' 小計' },
  chinese: { title: '合计', partTitle: '合计（第{n}部分）', subtotalEnding: ' 小计' },
  other: { title: 'Total', partTitle: 'Total (part {n})', subtotalEnding: ' subtotal' },
}

/** The row of totals, where a column of the template has one. */
export function totalsOf(
  { columns, rows, leaves, subtotals }: Template,
  theme: Theme,
): { totals?: TotalsPlan } {
  if (leaves.every(({ total }) => total === undefined)) return {}
  const { subtotalEnding, ...titles } =
    TITLES[languageOf([...titlesOf(columns), ...titlesOf(rows)].join(' '))]
  const below = subtotals && { subtotalEnding, subtotalStyle: theme.subtotal }
  return { totals: { ...titles, style: theme.total, ...below } }
}

function languageOf(text: string): keyof typeof TITLES {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'japanese'
  return /\p{Script=Han}/u.test(text) ? 'chinese' : 'other'
}

function titlesOf(nodes: readonly (ColumnNode | RowNode)[]): string[] {
  return nodes.flatMap(({ title, children }) => [title, ...titlesOf(children)])
}
