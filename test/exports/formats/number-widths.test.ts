import { expect, test } from 'vitest'
import type { Preview } from '../../../src/exports/index.ts'
import { displayWidth } from '../../../src/exports/sheet/index.ts'
import { type ExportClient, startExports } from '../../support/export-client.ts'

/** A column by itself, and what its cells show with the width that they have. */
async function shown(
  client: ExportClient,
  at: (path: string, answer: string) => string,
  { node, values }: { node: object | null; values: string[] },
): Promise<{ texts: string[]; width: number; formats: (string | undefined)[]; aligns: unknown[] }> {
  const data = values.map((value) => `{"v":${value}}`).join()
  const source_url = at(`/${Math.random()}`, `{"total":${values.length},"data":[${data}]}`)
  const template = node === null ? {} : { template: [{ name: 'v', title: 'v', ...node }] }
  const answer = await client.ask('POST', '/api/exports/preview', {
    key: client.project.key,
    body: { source_url, type: 'excel', ...template },
  })
  const { tables } = (await answer.json()) as Preview
  const [{ data: rows, widths, styles }] = tables as [Preview['tables'][number]]
  const cells = rows.map(({ cells }) => cells[0]!)
  return {
    aligns: cells.map(({ style }) => [styles[style]!.align, styles[style]!.indent]),
    texts: cells.map(({ text }) => text),
    width: widths[0]!,
    formats: cells.map(({ style }) => styles[style]!.format),
  }
}

async function setup() {
  const { client, business } = await startExports()
  const at = (path: string, answer: string) => business.at(path, (_, response) => response.end(answer))
  return (node: object | null, ...values: string[]) => shown(client, at, { node, values })
}

test('a column is as wide as its format shows its numbers and dates, totals included', async () => {
  const show = await setup()
  const columns: [object, ...string[]][] = [
    [{ type: 'datetime', format: 'dddd, d. mmmm yyyy hh:mm' }, '"2026-09-23T22:58:00"'],
    [{ type: 'integer', format: '[$USD] #,##0.00' }, '123456789'],
    [{ type: 'integer', format: '#,##0 "units sold"' }, '7', '123456789'],
    [{ type: 'number', format: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)' }, '-123456789.5', '0'],
    [{ type: 'integer', format: '0000000000' }, '98765'],
    [{ type: 'number', format: '#,##0.00;(#,##0.00)' }, '-123456789'],
    [{ type: 'percent', format: '0% "of plan achieved"' }, '0.5'],
    [{ type: 'number', format: '0;-0;"nothing was sold at all"' }, '0'],
    [{ type: 'number', format: '[>=1000]0.0,"K";0.00 "single ones"' }, '12', '123456'],
    [{ type: 'money' }, '"12345678901234.5"', '-1'],
    [{ type: 'money', totals: 'sum' }, ...Array<string>(10).fill('99999999.99')],
    [{ format: '#,##0.00 "kg"' }, '123456789'],
    [{ type: 'integer', totals: 'avg' }, '123456789012', '1'],
    [{ type: 'integer' }, '"12345678901234567"'],
    [{ type: 'money' }, '1.0E7', '-9.99999999999E11', '1.5e-3'],
    [{ type: 'money', format: '[$€] #,##0.00;([$€] #,##0.00)' }, '-1.234567891E9'],
    [{ type: 'percent' }, '1.5E4'],
    [{ type: 'integer' }, '1E12'],
    [{ type: 'integer' }, '2.5E18'],
    [{ type: 'money' }, '5E20', '1'],
    [{ type: 'money', totals: 'sum' }, '-5E19', '-6E19'],
    [{ type: 'number', format: '#,##0' }, '2.5E18'],
    [{ format: '#,##0' }, '2.5E18'],
    [{ type: 'money' }, '"not yet agreed upon"', '5'],
  ]
  for (const [node, ...values] of columns) {
    const { texts, width } = await show(node, ...values)
    const needed = Math.max(...texts.map(displayWidth))
    expect(width, `${JSON.stringify(node)}: ${texts}`).toBeGreaterThanOrEqual(needed + 1)
  }
})

test('digits that a format does not show take no room', async () => {
  const show = await setup()
  for (const node of [null, {}, { type: 'number' }])
    for (const value of ['5e-324', '1e-30', '0.30000000000000004'])
      expect((await show(node, value, '1')).width, value).toBeLessThan(16)
  expect((await show({}, '0.30000000000000004', '"a text of some 23 chars"')).width).toBeGreaterThan(23)
  expect((await show({ type: 'string' }, '0.30000000000000004')).width).toBeGreaterThan(19)
  expect((await show({ type: 'percent' }, '0.142857142857')).width).toBeLessThan(12)
  expect((await show({ type: 'money' }, '1234567.891234567')).width).toBeLessThan(16)
  expect((await show({ type: 'money' }, '"1234567.8900"')).width).toBeLessThan(16)
})

test('numbers that General would round or show with an exponent are shown whole', async () => {
  const show = await setup()
  for (const node of [null, { type: 'number' }]) {
    expect(await show(node, '4006381333931', '7')).toMatchObject({ texts: ['4006381333931', '7'] })
    expect(await show(node, '1234567890.55', '3')).toMatchObject({ texts: ['1234567890.55', '3.00'] })
    expect(await show(node, '-123456789012345')).toMatchObject({ texts: ['-123456789012345'] })
    expect(await show(node, '1234567890.123456789')).toMatchObject({ texts: ['1234567890.12346'] })
    expect(await show(node, '123456789012', '0.00001234', '1.0825')).toMatchObject({
      texts: ['123456789012.00', '0.00001234', '1.0825'],
    })
    expect(await show(node, '1.0E12', '2.5e8')).toMatchObject({ texts: ['1000000000000', '250000000'] })
    for (const short of ['12345678901', '0.30000000000000004', '1.5', '1e21', '95.18810000000001'])
      expect((await show(node, short)).formats, short).toEqual([undefined])
  }
  expect((await show({ type: 'number' }, '"4006381333931"')).texts).toEqual(['4006381333931'])
  expect((await show(null, '"4006381333931"')).formats).toEqual([undefined])
  const sum = await show({ type: 'number', totals: 'sum' }, '99999999999', '99999999999')
  expect(sum.texts).toEqual(['99999999999', '99999999999', '199999999998'])
})

test('a format that Wharf chooses shows no number as zero that is none', async () => {
  const show = await setup()
  for (const node of [null, { type: 'number' }]) {
    expect(await show(node, '1234567890.123456', '1e-30', '-0.000000001', '0', '0.5')).toMatchObject({
      texts: ['1234567890.12346', '1E-30', '-0.000000001', '0.00', '0.50'],
      formats: ['0.00######', undefined, undefined, '0.00######', '0.00######'],
    })
  }
  // Texts with an exponent are numbers in a number column, too.
  expect((await show({ type: 'number' }, '1234567890.55', '"1e-30"', '"0.0"')).texts).toEqual([
    '1234567890.55',
    '1E-30',
    '0.00',
  ])
  expect((await show({ type: 'number' }, '123456789012', '" 4e-7 "')).texts).toEqual([
    '123456789012',
    '0.0000004',
  ])
  const totals = { type: 'number', totals: 'min' }
  expect((await show(totals, '1234567890.123456', '1e-30')).texts.at(-1)).toBe('1E-30')
})

test('fractions of a cent are shown in a column of money, and of a percentage', async () => {
  const show = await setup()
  const money = await show({ type: 'money' }, '0.0004', '-0.0012', '0.005', '12.5', '0', '"0.0004"', '"4E-4"')
  expect(money.texts).toEqual(['0.0004', '-0.0012', '0.01', '12.50', '0.00', '0.0004', '0.0004'])
  const percent = await show({ type: 'percent' }, '0.00001', '-0.0000123', '0.00005', '0')
  expect(percent.texts).toEqual(['0.001%', '-0.00123%', '0.01%', '0.00%'])
  expect(percent.width).toBeGreaterThanOrEqual(Math.max(...percent.texts.map(displayWidth)) + 1)
  const sum = await show({ type: 'money', totals: 'sum' }, '0.0004', '0.0005')
  expect(sum.texts).toEqual(['0.0004', '0.0005', '0.0009'])
  const average = await show({ type: 'money', totals: 'avg' }, '0.008', '-0.0076')
  expect(average.texts).toEqual(['0.01', '-0.01', '0.0002'])
})

test('what a computation left over of an amount is shown as zero, and so is what a format asks for', async () => {
  const show = await setup()
  const rest = await show({ type: 'money', totals: 'sum' }, '5.684341886080802e-14', '-1e-30')
  expect(rest.texts).toEqual(['0.00', '0.00', '0.00'])
  for (const type of ['auto', 'number', 'money', 'percent'])
    expect((await show({ type, format: '0.00' }, '1e-30', '0.004')).texts, type).toEqual(['0.00', '0.00'])
})

test('a condition styles a small number as it does others', async () => {
  const show = await setup()
  const node = { type: 'money', condition_style: { condition: '> 0', color: 'green' } }
  expect(await show(node, '0.0004', '4')).toMatchObject({
    texts: ['0.0004', '4.00'],
    formats: [undefined, '#,##0.00'],
  })
})

test('a column of ids, which are too long for numbers, is aligned like the texts that they are', async () => {
  const show = await setup()
  const [ids, texts] = [
    ['12345678901234567890', '12345678901234567891'],
    ['"a"', '"b"'],
  ]
  expect((await show(null, ...ids)).aligns).toEqual((await show(null, ...texts)).aligns)
  expect((await show(null, ...ids)).aligns).toEqual([
    ['left', 1],
    ['left', 1],
  ])
  for (const numbers of [
    ['7', ids[0]!],
    ['7', '8'],
    ['1.5e20', '2e20'],
    ['-123456789012345', 'null'],
  ])
    expect((await show(null, ...numbers)).aligns[0], numbers.join()).toEqual(['right', 1])
})
