import { expect, test } from 'vitest'
import { chooseContent, templateOverruled } from '../../../src/exports/template/index.ts'

test('what the source sends wins over the request, each part by itself', () => {
  const request = { template: { a: 'A' }, title: 'T', header: { x: 1 }, footer: 'f' }
  expect(chooseContent(request, { template: [{ name: 'b' }], header: [], footer: null })).toEqual({
    template: [{ name: 'b' }],
    title: 'T',
    summary: undefined,
    header: { x: 1 },
    footer: 'f',
  })
})

test("the template may be the request's, and the result says when it is not", () => {
  const request = { template: { a: 'A' }, title: 'T' }
  const source = { template: [{ name: 'b' }], title: 'S' }
  expect(chooseContent(request, source, 'request')).toMatchObject({ template: { a: 'A' }, title: 'S' })
  expect(chooseContent({}, source, 'request')).toMatchObject({ template: [{ name: 'b' }] })
  expect(templateOverruled(request, source)).toBe(true)
  expect(templateOverruled(request, source, 'request')).toBe(false)
  expect(templateOverruled(request, { template: { a: 'A' } })).toBe(false)
  expect(templateOverruled({ template: [] }, source)).toBe(false)
  expect(templateOverruled(request, {})).toBe(false)
})
