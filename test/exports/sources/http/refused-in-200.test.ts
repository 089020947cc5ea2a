import { expect, test } from 'vitest'
import { rowsFrom, startApi } from './api-server.ts'
import { exportSource } from './export-source.ts'

const exported = async (body: unknown, more: object = {}) => {
  const { origin, asked } = await startApi(() => ({ body }))
  const made = exportSource({ url: origin, rows: 'data', total: null, paging: { style: 'none' }, ...more })
  return { made, asked }
}

test.each([
  [{ success: false, error: 'quota exceeded', data: [] }, 'quota exceeded'],
  [{ ok: false, data: [] }, 'ok is false'],
  [{ success: 'false', message: 'two\nlines', data: [] }, 'two lines'],
  [{ errors: [{ message: 'no such field' }], data: [] }, 'no such field'],
  [{ error: { code: 7, message: 'closed' }, data: [] }, 'closed'],
  [{ error: true, data: [] }, 'error is true'],
  [{ code: 500, msg: 'internal error', data: [] }, 'internal error'],
  [{ status: 429, data: [] }, 'status is 429'],
  [{ code: 500, msg: 'internal error', data: null }, 'internal error'],
  [{ errors: [{ message: 'no such field' }], data: null }, 'no such field'],
  [{ success: false, error: 'quota exceeded', total: 0 }, 'quota exceeded'],
])('an answer without rows that says that it failed is an error: %j', async (body, reason) => {
  const { made, asked } = await exported(body)
  await expect(made).rejects.toMatchObject({
    kind: { code: 'SOURCE_ERROR' },
    message: expect.stringContaining(`the source says: ${reason}`),
  })
  // How it refuses the first page, it refuses it again.
  expect(asked).toHaveLength(1)
})

test.each([
  { success: true, error: null, errors: [], data: [] },
  { error: '', errors: {}, code: 0, msg: 'ok', data: [] },
  { error: false, errors: 0, status: 200, data: [] },
  { error: { code: 0, message: 'success' }, code: 10_000, status: 'success', data: [] },
  { code: 404, msg: 'nothing found', data: [] },
  { error: 'none', data: [] },
  // With rows nothing is doubted.
  { success: false, error: 'partial', data: [{ id: 1 }] },
])('an answer that does not say that it failed is none: %j', async (body) => {
  const { made } = await exported(body)
  expect((await made).rows).toBe(body.data.length)
})

test('an answer whose rows are elsewhere says what it has, and what it says', async () => {
  const { made } = await exported({ code: 1, msg: 'fine', result: [] })
  await expect(made).rejects.toMatchObject({
    kind: { code: 'SOURCE_SHAPE' },
    message: expect.stringContaining(
      `there is no list of rows at 'data'; the answer has code, msg, result ("fine")`,
    ),
  })
})

test('a refusal in the middle is not the end of the list, and is asked for again', async () => {
  let refused = 0
  const { origin } = await startApi(({ number }) => {
    const page = number('page')
    if (page === 2 && refused++ === 0) return { body: { success: false, error: 'slow down', data: [] } }
    return { body: { success: true, data: rowsFrom(page * 10, Math.min(45, page * 10 + 10)) } }
  })
  const { rows } = await exportSource({ url: origin, rows: 'data', total: null, paging: { size: 10 } })
  expect(rows).toBe(45)
})

test('secrets that the source repeats are masked', async () => {
  const token = 'Bearer 0123456789abcdef'
  const { made } = await exported(
    { success: false, error: `unknown token ${token}`, data: [] },
    { headers: { authorization: token } },
  )
  const said = String(await made.catch((reason: unknown) => reason))
  expect(said).toContain('unknown token')
  expect(said).not.toContain('0123456789abcdef')
})

test.each([
  [
    { total: 0, data: [], success: false, error: 'quota exceeded' },
    'SOURCE_ERROR',
    'the source says: quota exceeded',
  ],
  [{ code: 500, msg: 'internal error', data: null }, 'SOURCE_ERROR', 'the source says: internal error'],
  [{ errors: [{ message: 'no such field' }], data: null }, 'SOURCE_ERROR', 'the source says: no such field'],
  [
    { code: 1, msg: 'fine', rows: [] },
    'SOURCE_SHAPE',
    'it has no total; the answer has code, msg, rows ("fine")',
  ],
])("Wharf's own protocol: %j", async (body, code, message) => {
  const { origin } = await startApi(() => ({ body }))
  await expect(exportSource({ url: origin })).rejects.toMatchObject({
    kind: { code },
    message: expect.stringContaining(message),
  })
})
