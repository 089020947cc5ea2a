import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskUrl, openUrl, Sealer, sealUrl } from '../../src/tenancy/index.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN } from '../support/http.ts'

const sealer = new Sealer('a-seal-key-for-this-test')

test('an address is opened as it was sealed, and shows no password when masked or sealed', () => {
  expect(maskUrl('https://anna:s3cret@host/a?b=1')).toBe('https://anna:***@host/a?b=1')
  expect(maskUrl('https://t0ken@host/')).toBe('https://***@host/')
  expect(sealUrl(sealer, 'https://host/a@b:c')).toBe('https://host/a@b:c')
  const word = fc.stringMatching(/^[a-zA-Z0-9.:%@-]{8,20}$/)
  fc.assert(
    fc.property(
      fc.constantFrom('http://', 'https://', 'http:', 'http:\\\\', ' http://'),
      word,
      (scheme, secret) => {
        const url = `${scheme}anna:${secret}@host.example/path?x=1`
        fc.pre(URL.canParse(url) && new URL(url).password !== '')
        const sealed = sealUrl(sealer, url)
        const given = new URL(url)
        for (const shown of [sealed, maskUrl(url), maskUrl(sealed)]) expect(shown).not.toContain(secret)
        expect(new URL(openUrl(sealer, sealed)).href).toBe(given.href)
        expect(new URL(maskUrl(sealed)).host).toBe(given.host)
      },
    ),
  )
})

test('[ledger-copy] a password inside an address is in no row, no event and no answer, and still opens its source', async () => {
  const { wharf, business, client } = await startExports()
  const secret = 'pa55-of-the-source'
  const withSecret = (url: string) => url.replace('://', `://anna:${secret}@`)
  const source = business.source({ total: 3 })
  const receiver = business.receiver(200)
  const view = await client.run({
    source_url: withSecret(source.url),
    callback: withSecret(receiver.url),
  })
  expect(view.status).toBe('succeeded')
  expect((await receiver.call()).headers.authorization).toMatch(/^Basic /)
  const account = { url: withSecret(source.url), params: {} }
  const admin = { key: ADMIN_TOKEN }
  const put = await wharf.ask('PUT', '/api/accounts/anna', { ...admin, body: account })
  const shown = (await put.json()) as { url: string }
  expect(shown.url).toContain('anna:***@')
  const stored = async () =>
    (await wharf.ledger.db.selectFrom('accounts').select('url').executeTakeFirst())?.url
  const before = await stored()
  // What was shown can be sent back.
  await wharf.ask('PUT', '/api/accounts/anna', { ...admin, body: { ...account, url: shown.url } })
  expect(await stored()).toBe(before)
  const tables = ['jobs', 'tasks', 'events', 'deliveries', 'accounts', 'idempotency'] as const
  for (const table of tables)
    expect(
      JSON.stringify(await wharf.ledger.db.selectFrom(table).selectAll().execute()),
      table,
    ).not.toContain(secret)
  for (const path of [
    '/api/state',
    `/api/exports/${view.task_id}`,
    `/api/exports/${view.task_id}/deliveries`,
  ])
    expect(await (await wharf.ask('GET', path, admin)).text(), path).not.toContain(secret)
})
