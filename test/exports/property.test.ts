import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseTemplate, planSheet } from '../../src/exports/template/index.ts'
import { readWorkbook } from '../../src/exports/xlsx/index.ts'
import { readWorkbooks, type SeenCell } from './xlsx/foreign-reader.ts'
import { Digits, type Row, type SpoolValue, setup } from './xlsx/spool-fixture.ts'

/**
 * Random templates and rows are written, read back with openpyxl, and every cell is held against what the rules of
 * docs/templates.md say of it. The rules stand here once more, in other words than in the code.
 */

const SEED = 20_260_228
const BOOKS = 12
const ROWS = 60

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

const TYPES = [
  'auto',
  'string',
  'number',
  'integer',
  'money',
  'percent',
  'date',
  'datetime',
  'boolean',
] as const
type Type = (typeof TYPES)[number]
const NUMERIC_TYPES: readonly Type[] = ['number', 'integer', 'money', 'percent']
const TOTALS = ['sum', 'avg', 'count', 'min', 'max'] as const
type Expected = { type: string; value: SeenCell['value'] } | null

/** Mulberry32: the same numbers for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

function randomTemplate(random: (below: number) => number): { template: unknown; types: Type[] } {
  const types: Type[] = []
  const node = (depth: number): object => {
    if (depth < 3 && random(4) === 0)
      return {
        title: `group ${random(100)}`,
        children: Array.from({ length: 1 + random(3) }, () => node(depth + 1)),
      }
    const type = TYPES[random(TYPES.length)]!
    types.push(type)
    return {
      name: `field${types.length - 1}`,
      ...(random(2) === 0 && { title: `Title ${types.length}` }),
      ...(type !== 'auto' && { type }),
      ...(random(3) === 0 && { align: ['left', 'center', 'right'][random(3)], bold: random(2) === 0 }),
      ...(NUMERIC_TYPES.includes(type) && random(2) === 0 && { totals: TOTALS[random(TOTALS.length)] }),
      ...(random(4) === 0 && { condition_style: [{ condition: '> 100', color: 'red', bg_color: true }] }),
    }
  }
  return { template: Array.from({ length: 1 + random(8) }, () => node(0)), types }
}

function randomValue(random: (below: number) => number): SpoolValue {
  const double = () => (random(2 ** 31) / 2 ** 31) * 10 ** (random(12) - 4) * (random(2) ? 1 : -1)
  const day = () =>
    new Date(Date.UTC(1990 + random(60), random(12), 1 + random(28), random(24), random(60), random(60)))
  const kinds: (() => SpoolValue)[] = [
    () => null,
    () => undefined,
    () => '',
    () => random(2) === 0,
    () => random(1_000_000) - 500_000,
    double,
    () => double() * 1.19,
    () => new Digits(`${1 + random(9)}${'0123456789'.repeat(2).slice(0, 10 + random(10))}`),
    () => new Digits(`${random(9)}e${random(40) - 20}`),
    () => String(random(100_000)),
    () => `-${random(1_000)}.${random(100)}`,
    () => String(double() * 1.19),
    () => `00${random(1_000)}`,
    () => day().toISOString().slice(0, 10),
    () => day().toISOString().slice(0, 10).replaceAll('-', '/'),
    () => day().toISOString().slice(0, 19),
    () => Number(day().toISOString().slice(0, 10).replaceAll('-', '')),
    () => Math.floor(day().getTime() / 1_000),
    () => String(day().getTime()),
    () => ['true', 'FALSE', 'yes', 'null'][random(4)]!,
    () =>
      ['订单 😀', 'a,b;"c"', 'x < y & z > 0', 'two\nlines', ' led', 'tail ', '=1+1', '_x0041_', "it's"][
        random(9)
      ]!,
    () => `${'长'.repeat(random(40))}${random(100)}`,
  ]
  return kinds[random(kinds.length)]!()
}

const NUMERIC = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i

/** What a number is in a workbook, by its digits; null if it has to stay text. */
function numberOf(digits: string): number | null {
  const whole = /^\s*[+-]?0*(\d*)(\.\d*)?\s*$/.exec(digits)?.[1] ?? ''
  const value = Number(digits)
  if (whole.length > 15 || !Number.isFinite(value)) return null
  return Number(value.toPrecision(15))
}

function instantOf(text: string): Date | null {
  if (/^[1-9]\d{7}$/.test(text)) return instantOf(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`)
  if (/^[1-9]\d{8,9}$/.test(text)) return new Date(Number(text) * 1_000)
  if (/^[1-9]\d{11,12}$/.test(text)) return new Date(Number(text))
  const iso = /^(\d{4})([-/])(\d\d)\2(\d\d)(T\d\d:\d\d:\d\d)?$/.exec(text)
  if (!iso) return null
  const day = `${iso[1]}-${iso[3]}-${iso[4]}`
  const date = new Date(`${day}${iso[5] ?? 'T00:00:00'}Z`)
  return date.toString() !== 'Invalid Date' && date.toISOString().startsWith(day) ? date : null
}

const number = (value: number): Expected => ({ type: 'n', value })
const text = (value: string): Expected => ({ type: 's', value })

function expectedCell(type: Type, value: SpoolValue): Expected {
  if (value === null || value === undefined || value === '') return null
  const isNumber = typeof value === 'number' || value instanceof Digits
  const digits = value instanceof Digits ? value.text : String(value)
  if (typeof value === 'boolean') return type === 'string' ? text(digits) : { type: 'b', value }
  switch (type) {
    case 'string':
      return text(digits)
    case 'date':
    case 'datetime': {
      const date = instantOf(digits)
      if (!date) break
      if (type === 'date') date.setUTCHours(0, 0, 0, 0)
      // No column has a format that shows fractions, and what is not shown must not round the rest up.
      date.setUTCMilliseconds(0)
      return { type: 'd', value: { date: date.toISOString() } }
    }
    case 'boolean':
      if (!isNumber && /^(true|false)$/i.test(digits)) return { type: 'b', value: /^true$/i.test(digits) }
      break
    case 'auto':
      break
    default: {
      const found = NUMERIC.test(digits) ? numberOf(digits) : null
      return found === null ? text(digits) : number(found)
    }
  }
  const found = isNumber ? numberOf(digits) : null
  return found === null ? text(digits) : number(found)
}

test('any template and any rows come back from another program as the rules say', async () => {
  const random = chance(SEED)
  const books = await Promise.all(
    Array.from({ length: BOOKS }, async () => {
      const { template: input, types } = randomTemplate(random)
      const template = parseTemplate(input)!
      const rows = Array.from({ length: ROWS }, (): Row => types.map(() => randomValue(random)))
      const plan = planSheet({ name: 'Any', template })
      const { files } = await bench.write({ sheets: [{ plan, segments: [bench.spool(rows, { slice: 7 })] }] })
      return { path: files[0]!.path, plan, types, rows }
    }),
  )
  const seen = await readWorkbooks(books.map(({ path }) => path))
  for (const [index, { plan, types, rows }] of books.entries()) {
    const { cells } = seen[index]![0]!
    const [own] = await readWorkbook(books[index]!.path)
    const ownCells = new Map(
      own!.rows.flatMap(({ row, cells }) => cells.map((cell) => [`${row} ${cell.column}`, cell])),
    )
    for (const [column, { total }] of plan.columns.entries()) {
      if (total === undefined) continue
      const place = `${String.fromCharCode(65 + column)}${plan.top.rows + ROWS + 1}`
      const shown = rows
        .map((row) => expectedCell(types[column]!, row[column]))
        .filter((cell) => cell !== null)
      const wanted = expectedTotal(total, shown)
      const found = cells[place]!.cached as number
      expect(Math.abs(found - wanted), `book ${index}, ${total} in ${place}`).toBeLessThanOrEqual(
        Math.abs(wanted) * 1e-12,
      )
    }
    for (const [n, row] of rows.entries())
      for (const [column, value] of row.entries()) {
        const place = `${String.fromCharCode(65 + column)}${plan.top.rows + n + 1}`
        const cell = cells[place]
        const found =
          cell === undefined || cell.value === null ? null : { type: cell.type, value: roundMillis(cell) }
        const rule = expectedCell(types[column]!, value)
        // What a preview reads from the file is what others read.
        const read = ownCells.get(`${plan.top.rows + n + 1} ${column}`)
        if (rule?.type !== 'd') expect(read?.value ?? null, `${index} ${place}`).toEqual(rule?.value ?? null)
        else expect(read?.text.slice(0, 10)).toBe((rule.value as { date: string }).date.slice(0, 10))
        expect({ book: index, place, type: types[column], value, found }).toEqual({
          book: index,
          place,
          type: types[column],
          value,
          found: rule,
        })
      }
  }
})

function expectedTotal(total: (typeof TOTALS)[number], cells: NonNullable<Expected>[]): number {
  if (total === 'count') return cells.length
  const numbers = cells.filter(({ type }) => type === 'n').map(({ value }) => value as number)
  const sum = numbers.toSorted((a, b) => Math.abs(a) - Math.abs(b)).reduce((all, value) => all + value, 0)
  if (total === 'sum') return sum
  return total === 'avg' ? sum / numbers.length : Math[total](...numbers)
}

/** openpyxl reads times as fractions of a day, and shows microseconds; a millisecond is what the file promises. */
function roundMillis({ value }: SeenCell): SeenCell['value'] {
  if (typeof value !== 'object' || value === null) return value
  const [whole, fraction = ''] = value.date.split('.')
  const millis = Date.parse(`${whole}Z`) + Math.round(Number(`0.${fraction}`) * 1_000)
  return { date: new Date(millis).toISOString() }
}
