import { describe, expect, test } from 'vitest'
import type { HttpSource } from '../../../../src/exports/index.ts'
import { rowsFrom, startApi } from './api-server.ts'
import { columnOf, exportSource } from './export-source.ts'

const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n))

/** A token server as RFC 6749 describes it (4.4 and 5), and a source that takes the tokens it has given lately. */
async function protectedSource({
  secretIn = 'header',
  expiresIn = 3_600,
}: {
  secretIn?: string
  expiresIn?: number
} = {}) {
  let given = 0
  let valid = new Set<string>()
  const tokens = await startApi(({ headers, text }) => {
    const form = new URLSearchParams(text)
    const basic = Buffer.from(String(headers.authorization).replace(/^Basic /, ''), 'base64').toString()
    const shown =
      secretIn === 'header'
        ? basic.split(':').map(decodeURIComponent).join(' ')
        : `${form.get('client_id')} ${form.get('client_secret')}`
    if (shown !== 'my:client s€cret' || form.get('grant_type') !== 'client_credentials')
      return { status: 401, body: { error: 'invalid_client', error_description: 'who are you' } }
    const access_token = `token-${++given}`
    valid.add(access_token)
    return { body: { access_token, token_type: 'Bearer', expires_in: expiresIn, scope: form.get('scope') } }
  })
  const api = await startApi((request) => {
    if (!valid.has(String(request.headers.authorization).replace('Bearer ', '')))
      return { status: 401, body: {} }
    const page = request.number('page')
    if (page === 1 && given === 1) {
      // The token ends in the middle of the export.
      valid = new Set()
      return { status: 401, body: {} }
    }
    const [total, size] = [60, request.number('page_size')]
    return { body: { total, data: rowsFrom(page * size, Math.min(total, (page + 1) * size)) } }
  })
  const auth = {
    kind: 'oauth2',
    token_url: `${tokens.origin}/token`,
    client_id: 'my:client',
    client_secret: 's€cret',
    scope: 'orders.read',
  } as const
  return { api, tokens, auth, revoke: () => (valid = new Set()) }
}

describe('OAuth 2 client credentials', () => {
  test('a token that ends in the middle of an export is fetched anew, and no row is lost', async () => {
    for (const rows of ['data', undefined]) {
      const { api, tokens, auth } = await protectedSource()
      const source: HttpSource = { url: api.origin, auth, paging: { size: 20 }, ...(rows && { rows }) }
      const { lines } = await exportSource(source)
      expect(columnOf(lines, 'id')).toEqual(ids(60))
      expect(tokens.asked).toHaveLength(2)
      expect(new URLSearchParams(tokens.asked[0]?.text).get('scope')).toBe('orders.read')
      // Neither the URL nor the body has the secret where the header does.
      expect(`${tokens.asked[0]?.url} ${tokens.asked[0]?.text}`).not.toContain('secret')
    }
  })

  test('a server that takes the secret in the body only gets it there', async () => {
    const { api, auth } = await protectedSource({ secretIn: 'body' })
    const { lines } = await exportSource({ url: api.origin, auth, rows: 'data', paging: { size: 20 } })
    expect(columnOf(lines, 'id')).toEqual(ids(60))
  })

  test('a token is used until shortly before its end', async () => {
    const { api, tokens, auth } = await protectedSource({ expiresIn: 0 })
    await exportSource({ url: api.origin, auth, rows: 'data', paging: { size: 20 } })
    // One for each of the three pages: each token ends as it begins.
    expect(tokens.asked).toHaveLength(3)
  })

  test('a source that refuses every token ends the export after one more', async () => {
    const { tokens, auth } = await protectedSource()
    const api = await startApi(() => ({ status: 401, body: {} }))
    await expect(exportSource({ url: api.origin, auth, rows: 'data' })).rejects.toMatchObject({
      kind: { code: 'SOURCE_STATUS' },
      details: { status: 401 },
    })
    expect([tokens.asked.length, api.asked.length]).toEqual([2, 2])
  })

  test('what the token server says is told, and no secret is', async () => {
    const { api, auth } = await protectedSource()
    const wrong = { ...auth, client_secret: 'wrong-secret' }
    const failure = await exportSource({ url: api.origin, auth: wrong, rows: 'data' }).catch(
      (error: unknown) => error,
    )
    expect(failure).toMatchObject({ kind: { code: 'SOURCE_TOKEN_REFUSED' }, retryable: false })
    expect(String(failure)).toMatch(/invalid_client: who are you/)
    expect(String(failure)).not.toContain('wrong-secret')
    expect(api.asked).toEqual([])
  })

  test('the secret goes to no other server, whatever the token server redirects to', async () => {
    const { api, auth } = await protectedSource()
    const other = await startApi(() => ({ body: { access_token: 'x', token_type: 'bearer' } }), '127.0.0.2')
    const tokens = await startApi(() => ({ status: 307, headers: { location: other.origin }, body: '' }))
    const source: HttpSource = { url: api.origin, auth: { ...auth, token_url: tokens.origin }, rows: 'data' }
    await expect(exportSource(source, {}, { allowHosts: '127.0.0.2' })).rejects.toThrow(/redirects to/)
    expect(other.asked).toEqual([])
  })
})

test('basic credentials go with every page, from auth or from the address', async () => {
  const api = await startApi((request) => {
    const page = request.number('page', 0)
    const next = page < 2 ? `/?page=${page + 1}` : null
    return { body: { results: rowsFrom(page * 5, page * 5 + 5), next } }
  })
  const auth = { kind: 'basic', username: 'ü', password: 'p:ss' } as const
  const sources: HttpSource[] = [
    { preset: 'drf', url: api.origin, auth },
    { preset: 'drf', url: api.origin.replace('//', `//${encodeURIComponent('ü')}:p%3Ass@`) },
  ]
  for (const source of sources) await exportSource(source)
  const expected = `Basic ${Buffer.from('ü:p:ss').toString('base64')}`
  expect(api.asked.map(({ headers }) => headers.authorization)).toEqual(Array(6).fill(expected))
})
