import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseCondition } from '../../src/exports/condition/index.ts'
import { parseTemplate, planSheet } from '../../src/exports/template/index.ts'

const page = readFileSync(new URL('../../docs/templates.md', import.meta.url), 'utf8')

test('every template on the page is one, and lays out as the tables beside it show', () => {
  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text!))
  const plans = blocks.map((block) => {
    const template = parseTemplate('condition_style' in block ? [block] : block)
    return planSheet({ name: 'x', template: template! })
  })
  const tables = [...page.matchAll(/<table>([\s\S]*?)<\/table>/g)].map(([, text]) => text!)
  expect([plans.length, tables.length]).toEqual([3, 2])
  for (const [index, table] of tables.entries()) {
    const drawn = [...table.matchAll(/<tr>(.*)<\/tr>/g)].slice(0, plans[index]!.top.rows).join()
    const heads = [...drawn.matchAll(/<th(?: rowspan="(\d)")?(?: colspan="(\d)")?>(.*?)<\/th>/g)]
    const shown = new Set(heads.map(([, rows = '1', columns = '1', title]) => `${title} ${rows}×${columns}`))
    const laidOut = plans[index]!.top.cells.map(
      ({ value, rowSpan, columnSpan }) => `${value} ${rowSpan}×${columnSpan}`,
    )
    expect(shown).toEqual(new Set(laidOut))
  }
})

test('every condition on the page is one', () => {
  const section = page.slice(page.indexOf('## Conditions'), page.indexOf('## Title'))
  const examples = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, text]) => text!)
  expect(examples.length).toBeGreaterThan(3)
  for (const text of examples) expect(() => parseCondition(text)).not.toThrow()
})
