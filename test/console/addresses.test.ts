import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { addressOf, nameIn } from '../../console/src/live/page-address.ts'
import { startFeed } from '../runs/feed-server.ts'
import { describeConsole } from '../support/console.ts'
import { consoleWords } from '../support/console-words.ts'

/** What a path, a query or a decoder could take for something else. Neighbours are what the one before becomes if it is decoded twice. */
const ODD = [
  'Margin > 20% 2026',
  '%',
  'a%20b',
  'a b',
  '100%25',
  '100%',
  'x%2Fy',
  'x/y',
  'a?b=c',
  'a#b',
  'a+b',
  '%00',
  '📦 月报',
  'a&b=c;d',
  `'"<b>\\`,
]

/** A page is read from its address in the same way then; these show it. */
const RELOADED = ['Margin > 20% 2026', 'a%20b', 'x/y']

test('a name comes out of its address as it went in', () => {
  for (const name of [...ODD, 'x'.repeat(200)]) {
    const { pathname, search, hash } = new URL(addressOf('/saved/exports', name), 'http://localhost')
    expect(pathname.split('/').length, name).toBe(4)
    expect([nameIn(pathname.split('/')[3]), search, hash]).toEqual([name, '', ''])
  }
  for (const part of ['%', '%E0%A4', 'a%2', '%ff', '', undefined]) expect(nameIn(part)).toBeNull()
})

describeConsole('addresses with names', (bench) => {
  const put = async (path: string, body: object, key: string) => {
    const answer = await fetch(`${bench.wharf.address}${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status, `${path}: ${await answer.text()}`).toBeLessThan(300)
  }
  const heading = (page: Page) => page.locator('main h1').first().textContent()

  /** Each kind of page with a name in its path, and how one is made. */
  const KINDS = [
    {
      list: '/saved/exports',
      make: (name: string) =>
        put(
          `/api/saved-exports/${encodeURIComponent(name)}`,
          {
            source_url: `${bench.wharf.address}/samples/orders?rows=3&name=${ODD.indexOf(name)}`,
          },
          bench.wharf.demoKey,
        ),
    },
    {
      list: '/saved/templates',
      make: (name: string) =>
        put(
          `/api/templates/${encodeURIComponent(name)}`,
          { template: [{ name: 'a', title: 'A' }] },
          bench.wharf.demoKey,
        ),
    },
    {
      list: '/runs',
      admin: true,
      // A handle is the name of a folder.
      names: ODD.filter((name) => !/[\s/\\:*?"<>|]/.test(name)),
      make: async (name: string) =>
        put(
          `/api/accounts/${encodeURIComponent(name)}`,
          { url: (await startFeed([])).url },
          bench.wharf.adminToken,
        ),
    },
  ] as const

  test.each(KINDS)('every name below $list opens its own page', async (kind) => {
    const names = 'names' in kind ? kind.names : ODD
    for (const name of names) await kind.make(name)
    const key = 'admin' in kind ? bench.wharf.adminToken : bench.wharf.demoKey
    const page = await bench.visit({ key, path: kind.list })
    for (const name of names) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await expect.poll(() => heading(page), { message: name }).toBe(name)
      if (RELOADED.includes(name)) {
        await page.reload()
        await expect.poll(() => heading(page), { message: `${name}, after a reload` }).toBe(name)
      }
      await page.goBack()
      await page.getByRole('link', { name, exact: true }).first().waitFor()
    }
  })

  test('a saved export is changed under its own name', async () => {
    const say = consoleWords('en')
    for (const name of ['a%20b', 'x%2Fy']) {
      await KINDS[0].make(name)
      const page = await bench.visit({ key: bench.wharf.demoKey, path: addressOf('/saved/exports', name) })
      await page.getByRole('button', { name: say('make.saved.change'), exact: true }).click()
      await expect.poll(() => page.locator('.back-link').textContent()).toBe(` ${name}`)
      await expect.poll(() => page.locator('#source_url').inputValue()).toContain(`name=${ODD.indexOf(name)}`)
    }
  })

  test('a filter with a per cent sign stays what was typed', async () => {
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports' })
    await page.getByLabel(consoleWords('en')('exports.filter.search')).fill('a%20b')
    await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe('a%20b')
    await page.reload()
    await expect
      .poll(() => page.getByLabel(consoleWords('en')('exports.filter.search')).inputValue())
      .toBe('a%20b')
  })

  test.each([
    { language: 'en', locale: 'en-US' },
    { language: 'zh', locale: 'zh-CN' },
  ] as const)('an address that was cut says so in words ($language)', async ({ language, locale }) => {
    const say = consoleWords(language)
    const page = await bench.visit({ key: bench.wharf.adminToken, locale, path: '/exports/20%' })
    const words = page.getByRole('heading', { name: say('common.bad_address.title') })
    await words.waitFor()
    const lists = [
      '/exports',
      '/saved/exports',
      '/saved/templates',
      '/runs',
      '/processing',
      '/admin/projects',
    ]
    for (const path of lists.flatMap((list) => [list, `${list}/%E0%A4`])) {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
      const isBad = path.includes('%')
      await expect.poll(() => words.count(), { message: path }).toBe(isBad ? 1 : 0)
    }
  })
})
