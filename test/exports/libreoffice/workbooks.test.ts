import { afterAll, test as base, describe, expect } from 'vitest'
import { sampleOrders } from '../../../src/exports/index.ts'
import { pagesOf, startSource } from '../../support/source-server.ts'
import { runWharf, temporaryFolder } from '../../support/wharf-process.ts'
import { readWorkbooks } from '../xlsx/foreign-reader.ts'
import { column, plan, setup } from '../xlsx/spool-fixture.ts'
import { Office, SOFFICE } from './office.ts'

const test = base.runIf(SOFFICE !== undefined)
const office = new Office()
afterAll(() => office.close())

/** A workbook out of a source over HTTP, made by the command. */
async function exported(answer: Parameters<typeof startSource>[0], ...args: string[]): Promise<string> {
  const file = `${temporaryFolder()}/book.xlsx`
  const { exited, output } = runWharf(['export', await startSource(answer), '-o', file, ...args])
  expect([(await exited).code, output.err.match(/^wharf:.*/m)?.[0]]).toEqual([0, undefined])
  return file
}

/** LibreOffice saves booleans as formulas. */
const BOOLEANS = new Map<unknown, boolean>([
  ['=TRUE()', true],
  ['=FALSE()', false],
])

/** Empty cells at the end of a row say nothing. */
function trimmed(rows: string[][]): string[][] {
  return rows.map((row) => row.slice(0, row.findLastIndex((field) => field !== '') + 1))
}

describe('LibreOffice opens what Wharf writes', () => {
  test('plain rows: numbers are numbers, texts are texts, every character is there', async () => {
    const rows = [
      { id: 1, name: '王伟', note: 'a "quoted", text\nof two lines', big: '12345678901234567890' },
      { id: -2.5, name: 'Ω ≈ 😀', note: '<b>&amp;</b>', big: '=1+1' },
      { id: 1e21, name: '007', note: ' blanks  kept ', big: '' },
    ]
    const { book } = await office.values(await exported(pagesOf(rows.length, (n) => rows[n]!)))
    expect(book).toEqual([
      ['"id"', '"name"', '"note"', '"big"'],
      ['1', '"王伟"', '"a ""quoted"", text\nof two lines"', '"12345678901234567890"'],
      ['-2.5', '"Ω ≈ 😀"', '"<b>&amp;</b>"', '"=1+1"'],
      ['1E+021', '"007"', '" blanks  kept "', ''],
    ])
  })

  test('the sample with its header of three levels: merges, colours and conditions survive a save', async () => {
    const file = await exported(({ page, pageSize }) => sampleOrders(30, page, pageSize), '--title', 'Orders')
    const [before, after] = await readWorkbooks([file, await office.resaved(file)])
    const [ours, theirs] = [before![0]!, after![0]!]
    expect(theirs.merges.toSorted()).toEqual(ours.merges.toSorted())
    expect(ours.merges).toEqual(expect.arrayContaining(['A1:J1', 'B3:C3', 'D3:F3', 'D4:E4', 'A3:A5']))
    const looks = (sheet: typeof ours) =>
      Object.entries(sheet.cells).map(([place, { value, look }]) => [
        place,
        BOOLEANS.get(value) ?? value,
        look.bold,
        look.align,
        look.color === '000000' ? null : look.color,
        look.bgColor,
      ])
    const filled = (sheet: typeof ours) => looks(sheet).filter(([, value]) => value !== null)
    expect(filled(theirs)).toEqual(filled(ours))
    expect(new Set(looks(ours).map(([, , , , , fill]) => fill))).toContain('FFE0E0')
  })

  test('dates, times, percents, money and booleans look like what they are', async () => {
    const template = [
      { name: 'day', type: 'date' },
      { name: 'at', type: 'datetime' },
      { name: 'share', type: 'percent' },
      { name: 'price', type: 'money' },
      { name: 'count', type: 'integer' },
      { name: 'paid', type: 'boolean' },
      { name: 'code', type: 'string' },
    ]
    const row = () => ({
      day: '2026-02-28',
      at: '2026-02-28T22:30:00Z',
      share: 0.125,
      price: -1234567.891,
      count: 42,
      paid: true,
      code: 17,
    })
    const file = await exported(pagesOf(1, row, { template }), '--timezone', 'Asia/Shanghai')
    const shown = (await office.values(file)).book
    expect(shown?.[1]).toEqual([
      '2026-02-28',
      '2026-03-01 06:30:00',
      '12.5%',
      '-1234567.891',
      '42',
      'TRUE',
      '"17"',
    ])
    const [saved] = await readWorkbooks([await office.resaved(file)])
    const values = ['A2', 'B2', 'C2', 'D2', 'E2', 'G2'].map((place) => saved![0]!.cells[place]?.type)
    expect(values).toEqual(['d', 'd', 'n', 'n', 'n', 's'])
    const formats = ['A2', 'B2', 'C2', 'D2'].map((place) => saved![0]!.cells[place]?.look.format)
    expect(formats).toEqual(['yyyy\\-mm\\-dd', 'yyyy\\-mm\\-dd\\ hh:mm:ss', '0.00%', '#,##0.00'])
  })

  test('row headers stand beside their rows, merged', async () => {
    const template = {
      ceil: [{ name: 'item' }, { name: 'sum', type: 'number' }],
      row: [
        {
          title: 'North',
          children: [
            { name: 'oslo', title: 'Oslo' },
            { name: 'kiel', title: 'Kiel' },
          ],
        },
        { name: 'rome', title: 'Rome' },
      ],
    }
    const heads = ['oslo', 'oslo', 'kiel', 'rome']
    const row = (n: number) => ({ _row_head_: heads[n], item: `item ${n}`, sum: n })
    const file = await exported(pagesOf(4, row, { template }))
    const { book } = await office.values(file)
    expect(trimmed(book!)).toEqual([
      ['', '', '"item"', '"sum"'],
      ['"North"', '"Oslo"', '"item 0"', '0'],
      ['', '', '"item 1"', '1'],
      ['', '"Kiel"', '"item 2"', '2'],
      ['"Rome"', '', '"item 3"', '3'],
    ])
    const [saved] = await readWorkbooks([await office.resaved(file)])
    expect(saved![0]!.merges.toSorted()).toEqual(['A1:B1', 'A2:A4', 'A5:B5', 'B2:B3'])
  })

  test('a summary of rich text, a header and a footer stand where they belong', async () => {
    const more = { header: { Source: 'ERP', Rows: 2 }, footer: 'That is <i>all</i>.' }
    const row = (n: number) => ({ a: n, b: n, c: n, d: n })
    const summary = 'One <b>bold</b> and <font color="red">red</font> word<br>on two lines'
    const file = await exported(pagesOf(2, row, more), '--title', 'A title', '--summary', summary)
    const { 'A title': sheet } = await office.values(file)
    expect(trimmed(sheet!)).toEqual([
      ['"A title"'],
      ['"One bold and red word\non two lines"'],
      ['"Source"', '"ERP"', '"Rows"', '2'],
      ['"a"', '"b"', '"c"', '"d"'],
      ['0', '0', '0', '0'],
      ['1', '1', '1', '1'],
      ['"That is all."'],
    ])
    expect(await office.pages(file)).toBe(1)
  })

  test('several sheets keep their names and order, and the longest text a cell takes comes whole', async () => {
    const { spool, write, close } = setup()
    try {
      const long = `${'漢字 and letters, '.repeat(2_300)}`.slice(0, 32_767)
      const sheets = ['Orders 订单', 'Refunds & more'].map((name, sheet) => ({
        plan: plan([column(0), column(1)], { name }),
        segments: [spool([[sheet, sheet === 0 ? long : 'short']])],
      }))
      const { files } = await write({ sheets })
      const seen = await office.values(files[0]!.path)
      expect(seen).toEqual({ 'Orders 订单': [['0', `"${long}"`]], 'Refunds & more': [['1', '"short"']] })
    } finally {
      await close()
    }
  })
})
