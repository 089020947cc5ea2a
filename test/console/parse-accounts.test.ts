import { describe, expect, test } from 'vitest'
import { parseAccounts } from '../../console/src/pages/runs/edit/parse-accounts.ts'

describe('pasted accounts', () => {
  test('blanks, tabs, commas and semicolons part a handle from its address', () => {
    const { accounts, errors } = parseAccounts(
      'ann https://a.example/feed?x=1,2\nbob\thttp://b.example/\r\n\n# a note\n商户,https://c.example/f;g\n d ; https://d.example/',
    )
    expect(errors).toEqual([])
    expect(accounts).toEqual([
      { line: 1, handle: 'ann', url: 'https://a.example/feed?x=1,2' },
      { line: 2, handle: 'bob', url: 'http://b.example/' },
      { line: 5, handle: '商户', url: 'https://c.example/f;g' },
      { line: 6, handle: 'd', url: 'https://d.example/' },
    ])
  })

  test('each wrong line is told with its number, and leaves the others alone', () => {
    const { accounts, errors } = parseAccounts(
      'ann https://a.example/\nbob\ncarl nowhere\nann https://other.example/\ndora ftp://d.example/\nerin https://e.example/ more',
    )
    expect(accounts.map(({ handle }) => handle)).toEqual(['ann'])
    expect(errors.map(({ line, error }) => [line, error])).toEqual([
      [2, 'no_url'],
      [3, 'bad_url'],
      [4, 'twice'],
      [5, 'bad_url'],
      [6, 'bad_url'],
    ])
  })
})
