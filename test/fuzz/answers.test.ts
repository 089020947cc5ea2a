import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRows } from '../../src/carriers/gse/gse-rows.ts'
import { parseHeader, parseTemplate, planSheet } from '../../src/exports/template/index.ts'
import { isAppError } from '../../src/kernel/index.ts'
import { readFeedPage } from '../../src/runs/feed/feed-page.ts'
import { startExports } from '../support/export-client.ts'
import { answerOf, expectForeseen, fuzz, limitMs, seed } from './fuzzing.ts'
import { oddText, oddValue, toJson } from './odd-values.ts'

const mostly = (good: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: oddValue })

const condition = fc
  .array(
    fc.oneof(
      fc.constantFrom('>', '=', 'in', '(', ')', ',', 'like', "'%a_'", '1', 'and', 'or', 'not'),
      oddText,
    ),
  )
  .map((words) => words.join(' '))
const { node } = fc.letrec<{ node: unknown }>((tie) => ({
  node: mostly(
    fc.record(
      {
        name: mostly(fc.constantFrom('a', 'b', '_', '__row__')),
        title: mostly(oddText),
        type: mostly(
          fc.constantFrom('auto', 'string', 'number', 'integer', 'money', 'percent', 'date', 'boolean'),
        ),
        format: mostly(fc.constantFrom('0.00', 'yyyy-mm-dd')),
        width: mostly(fc.nat({ max: 300 })),
        color: mostly(fc.constantFrom('red', '#ff0000')),
        row_count: mostly(fc.nat({ max: 5 })),
        condition_style: mostly(
          fc.array(fc.record({ condition, color: fc.constant('red') }), { maxLength: 2 }),
        ),
        children: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie('node'), { maxLength: 2 })),
      },
      { requiredKeys: ['name'] },
    ),
  ),
}))
const nodes = fc.array(node, { maxLength: 4 })
const template = mostly(
  fc.oneof(nodes, fc.record({ ceil: nodes, row: nodes }), fc.dictionary(oddText, oddText)),
)
const header = mostly(
  fc.oneof(fc.dictionary(oddText, oddValue), fc.array(fc.array(oddValue, { maxLength: 2 }))),
)

test(`no template is too odd (seed ${seed})`, { timeout: limitMs }, async () => {
  await fuzz(fc.tuple(template, header, header), ([given, above, below]) => {
    try {
      const parsed = parseTemplate(given, { keys: ['a', 'b'] })
      parseHeader(above, 'header')
      parseHeader(below, 'footer')
      if (parsed)
        planSheet({ name: 's', template: parsed, title: 't', summary: null, header: above, footer: below })
    } catch (error) {
      if (!isAppError(error)) throw error
      expect(error.code).toMatch(/^TEMPLATE_/)
    }
  })
})

const row = mostly(fc.dictionary(fc.constantFrom('a', 'b', '_row_head_'), oddValue, { maxKeys: 3 }))
const page = mostly(
  fc.record(
    {
      total: mostly(fc.constantFrom(0, 1, 2, '1')),
      data: mostly(
        fc.oneof(fc.array(row, { maxLength: 2 }), fc.dictionary(oddText, fc.array(row, { maxLength: 2 }))),
      ),
      status: mostly(fc.constantFrom(0, 200)),
      template,
      header,
      footer: header,
    },
    { requiredKeys: ['total', 'data'] },
  ),
)
const said = fc.oneof({ weight: 12, arbitrary: page.map(toJson) }, { weight: 1, arbitrary: oddText })

test(`no answer of a source is too odd (seed ${seed})`, { timeout: limitMs }, async () => {
  const { address, business, client } = await startExports()
  let answer = ''
  const source_url = business.at('/odd', (_request, response) => void response.end(answer))
  const asked = fc.record({
    path: fc.constantFrom('/api/exports/preview', '/api/exports?mode=sync'),
    type: fc.constantFrom('csv', 'excel'),
    said,
  })
  await fuzz(asked, async ({ path, type, said }) => {
    answer = said
    // A wrong page is asked for again after a while; a preview asks once, a file at once is for what can be read.
    const usable = path.includes('preview') || isPage(said)
    const { answer: seen, text } = await answerOf(`${address}${usable ? path : '/api/exports/preview'}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.project.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ source_url, type }),
    })
    expectForeseen(seen, text, `${path} ${said}`)
  })
})

/** Whether the source's rows and its total are those of one page, so that nobody has to wait for better ones. */
function isPage(text: string): boolean {
  try {
    const {
      total,
      data,
      status = 0,
    } = JSON.parse(text) as { total: unknown; data: unknown; status?: unknown }
    const isRow = (row: unknown) => typeof row === 'object' && row !== null && !Array.isArray(row)
    return (
      [0, 200].includes(status as number) && Array.isArray(data) && data.every(isRow) && data.length === total
    )
  } catch {
    return false
  }
}

const item = mostly(
  fc.record(
    {
      id: mostly(fc.oneof(oddText, fc.nat())),
      url: mostly(fc.constantFrom('http://127.0.0.1/a', 'b', '//', 'http://%zz@127.0.0.1/%zz', 'http://[')),
      name: oddValue,
      size: oddValue,
      created_at: oddValue,
    },
    { requiredKeys: ['id', 'url'] },
  ),
)
const feed = mostly(fc.record({ items: mostly(fc.array(item, { maxLength: 3 })), next_cursor: oddValue }))
const target = mostly(
  fc.record({
    error_code: mostly(fc.constantFrom(0, 115, 1_000_005)),
    error_msg: oddValue,
    content: mostly(fc.dictionary(fc.constantFrom('type', 'mode', 'dest_agent_id', 'progress'), oddValue)),
  }),
)

test(`no answer of a feed or a GSE is too odd (seed ${seed})`, { timeout: limitMs }, async () => {
  const answers = fc.tuple(
    fc.oneof(feed.map(toJson), oddText),
    mostly(fc.record({ result: mostly(fc.array(target)) })),
  )
  await fuzz(answers, ([text, data]) => {
    const { targets } = readRows(JSON.parse(toJson(data)))
    for (const { errorCode, progress } of targets)
      expect([Number.isSafeInteger(errorCode), Number.isFinite(progress)]).toEqual([true, true])
    try {
      for (const { size, createdAt } of readFeedPage(text, new URL('http://127.0.0.1/feed')).items)
        for (const number of [size, createdAt])
          expect(number === undefined || Number.isSafeInteger(number)).toBe(true)
    } catch (error) {
      expect(isAppError(error) && error.code, String(error)).toBe('FEED_INVALID')
    }
  })
})
