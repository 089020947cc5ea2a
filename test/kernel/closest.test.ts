import { expect, test } from 'vitest'
import { closest } from '../../src/kernel/index.ts'

test.each([
  ['v_align', 'v-align'],
  ['vAlign', 'v-align'],
  ['tilte', 'title'],
  ['colour', 'color'],
  ['z', undefined],
  ['nothing like it', undefined],
  ['', undefined],
])('%s is taken for %s', (word, meant) => {
  expect(closest(word, ['title', 'color', 'v-align', 'condition_style'])).toBe(meant)
})
