import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAnswer, toPage } from '../../../../src/exports/sources/http/paging/answer-page.ts'
import { PageBody, readHttpSource } from '../../../../src/exports/sources/index.ts'
import { startApi } from './api-server.ts'
import { exportSource } from './export-source.ts'

test('rows are found in any answer, cut and lifted as values would be', () => {
  const row = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  const answers = fc.record({
    before: fc.jsonValue(),
    rows: fc.array(row, { maxLength: 6 }),
    after: fc.jsonValue(),
  })
  fc.assert(
    fc.property(answers, fc.nat(6), fc.boolean(), ({ before, rows, after }, limit, isLifted) => {
      const listed = isLifted ? rows.map((values, id) => ({ id, attributes: values, meta: {} })) : rows
      const text = JSON.stringify({ a: before, 'x.y': { rows: listed }, z: after }, undefined, limit % 3)
      const plan = readHttpSource({ url: 'http://x/', rows: 'x.y.rows', paging: { style: 'none' } })
      const body = PageBody.ofText(text)
      const answer = readAnswer(body, {}, plan, 0)
      const keep = Math.min(limit, answer.count)
      const page = toPage(body.bytes, answer, keep, isLifted ? { member: 'attributes', keep: ['id'] } : null)
      const expected = isLifted
        ? rows.map(
            (values, id) => `{"id":${id}${JSON.stringify(values).replace('{', ',').replace(/^,\}$/, '}')}`,
          )
        : rows.map((values) => JSON.stringify(values))
      const seen = JSON.parse(page.bytes.toString('utf8', 0, page.length)) as { data: unknown[] }
      expect(answer.count).toBe(rows.length)
      expect(seen.data).toEqual(expected.slice(0, keep).map((one) => JSON.parse(one) as unknown))
    }),
  )
})

test('what a hostile source may send has an end', async () => {
  const wide = `{"items":[${'{},'.repeat(300_000)}{}],"next":"${'x'.repeat(20_000)}"}`
  const hostile: [string, object, RegExp][] = [
    [wide, { rows: 'items', paging: { style: 'cursor', cursor: 'next' } }, /more than 16384 bytes/],
    [`{"items":[],"n":[${'1,'.repeat(20_000)}1]}`, { rows: 'items', total: 'n' }, /more than 16384 bytes/],
    [
      `${Array.from({ length: 17_000 }, (_, n) => `c${n}`).join(',')}\n1\n`,
      { preset: 'csv' },
      /more than 16384 fields/,
    ],
    [`a\n"${'x'.repeat(5_000_000)}"\n`, { preset: 'csv' }, /cannot be read/],
    [`${'['.repeat(100_000)}`, { rows: '' }, /nested deeper/],
    ['{"items":[{}],"items":[{"a":1}', { rows: 'items' }, /not JSON/],
  ]
  for (const [body, shape, reason] of hostile) {
    const { origin } = await startApi(() => ({ body }))
    await expect(exportSource({ url: origin, ...shape }), reason.source).rejects.toThrow(reason)
  }
  const { origin } = await startApi(() => ({ body: wide }))
  const { rows } = await exportSource({ url: origin, rows: 'items', total: null, paging: { style: 'none' } })
  expect(rows).toBe(300_001)
})
