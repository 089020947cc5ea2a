import { expect, test } from 'vitest'
import { chooseContent } from '../../../src/exports/template/index.ts'

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
