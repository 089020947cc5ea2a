import { expect, test } from 'vitest'
import { startExports } from '../../support/export-client.ts'

async function setup() {
  const { client, business } = await startExports()
  const row = (n: number) => ({ id: n, amount: n === 0 ? 'none' : n, half: '\ud800' })
  const source_url = business.source({ total: 2, row }).url
  const warningsOf = async (more: object) => {
    const { warnings, warning_details } = await client.run({ source_url, ...more })
    return { warnings, details: warning_details }
  }
  return { source_url, client, warningsOf }
}

const X = { title: 'X' }

test('titles of a CSV file that stay the same, also with those of their groups, are warned of', async () => {
  const { warningsOf } = await setup()
  const group = {
    title: 'G',
    children: [
      { name: 'id', ...X },
      { name: 'amount', ...X },
    ],
  }
  const apart = { title: 'H', children: [{ name: 'id', ...X }] }
  const code = 'TITLES_REPEATED'
  expect((await warningsOf({ template: [group] })).details).toMatchObject([
    { code, values: { titles: ['G / X'] } },
  ])
  expect(
    (await warningsOf({ template: [{ ...group, children: [group.children[0]] }, apart] })).details,
  ).toEqual([])
  expect((await warningsOf({ template: group.children })).details).toMatchObject([
    { code, values: { titles: ['X'] } },
  ])
  expect((await warningsOf({ template: group.children, type: 'excel' })).details).toEqual([])
})

test.each(['jsonl', 'parquet'])(
  'a key of several columns is once in a %s file, and warned of',
  async (type) => {
    const { warningsOf } = await setup()
    const template = [{ name: 'id' }, { name: 'id', title: 'Again' }]
    expect((await warningsOf({ type, template })).details).toMatchObject([
      { code: 'COLUMNS_ONCE', values: { columns: ['id'], type } },
    ])
  },
)

test('where several columns show the same key, a warning about one of them has its title', async () => {
  const { warningsOf } = await setup()
  const template = [
    { name: 'amount', title: 'Money', type: 'money' },
    { name: 'amount', title: 'Whole', type: 'integer' },
    { name: 'id', type: 'date' },
    { name: 'half' },
    { name: 'half', title: 'Again' },
    { name: 'gone' },
    { name: 'gone', title: 'Gone too' },
  ]
  for (const type of ['excel', 'csv'])
    expect((await warningsOf({ type, template })).warnings, type).toEqual([
      'no row has a value for column gone',
      'column "half": 2 texts have half a character (a lone surrogate), shown as \ufffd',
      'column "amount (Money)": 1 value is not of the type money',
      'column "amount (Whole)": 1 value is not of the type integer',
      'column "id": 2 values are not of the type date',
    ])
})

test('a name of a sheet that Excel does not take is changed with a warning', async () => {
  const { source_url, client } = await setup()
  const names = ['A/B:*[x]', 'History', 'A_B', 'a_b', 'fine']
  const sheets = names.map((name) => ({ name, source_url, template: [{ name: 'id' }] }))
  const { task_id, warnings } = await client.run({ type: 'excel', sheets })
  expect((await client.sheets(task_id)).map(({ name }) => name)).toEqual([
    'A_B___x_',
    'History_',
    'A_B',
    'a_b (2)',
    'fine',
  ])
  const ending = 'Excel does not take the name as it is'
  expect(warnings).toEqual([
    `the sheet "A/B:*[x]" is named "A_B___x_": ${ending}`,
    `the sheet "History" is named "History_": ${ending}`,
    `the sheet "a_b" is named "a_b (2)": ${ending}`,
  ])
  const long = 'A title that is much longer than the name of a sheet may be'
  expect((await client.run({ type: 'excel', source_url, title: long })).warnings).toHaveLength(1)
})
