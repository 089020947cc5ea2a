import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole, seriousFaults, sidewaysScroll } from '../support/console.ts'
import { startSource } from '../support/source-server.ts'
import { until } from '../support/until.ts'

const PHONE = { width: 390, height: 844 }

describeConsole('for everyone', (bench) => {
  let finished: string

  /** Each page with something on it, and a sign that it is there. */
  const places = (): { name: string; path: string; ready(page: Page): Promise<void> }[] => [
    { name: 'overview', path: '/overview', ready: (page) => page.locator('canvas').first().waitFor() },
    { name: 'exports', path: '/exports', ready: (page) => page.locator('[data-row]').first().waitFor() },
    {
      name: 'new-export',
      path: '/exports/new?sample',
      async ready(page) {
        await page.locator('.make-actions button[type="button"]').nth(1).click()
        await page.locator('.sheet').waitFor()
        await page.locator('.builder-name').nth(6).click()
        await page.locator('.builder-form').waitFor()
      },
    },
    { name: 'saved', path: '/saved/exports', ready: (page) => page.locator('[data-row]').waitFor() },
    {
      name: 'saved-export',
      path: '/saved/exports/monthly',
      ready: (page) => page.locator('.saved-next').waitFor(),
    },
    {
      name: 'export',
      path: `/exports/${finished}`,
      ready: (page) => page.locator('.detail-history li').nth(2).waitFor(),
    },
    { name: 'nowhere', path: '/nowhere', ready: (page) => page.locator('.empty-state').waitFor() },
  ]

  /** What opens above a page. */
  const overlays: { name: string; path: string; open(page: Page): Promise<void> }[] = [
    { name: 'palette', path: '/exports', open: (page) => page.keyboard.press('Control+k') },
    { name: 'shortcuts', path: '/exports', open: (page) => page.keyboard.press('?') },
    {
      name: 'paste-accounts',
      path: '/runs',
      open: (page) => page.locator('.page-head-actions button').first().click(),
    },
    {
      name: 'add-account',
      path: '/runs',
      open: (page) => page.locator('.page-head-actions button').last().click(),
    },
  ]

  async function makeExports(): Promise<void> {
    const source_url = `${bench.wharf.address}/samples/orders?rows=50`
    await fetch(`${bench.wharf.address}/api/saved-exports/monthly`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${bench.wharf.demoKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ source_url, schedule: { cron: '0 6 1 * *', timezone: 'UTC' } }),
    })
    finished = await bench.wharf.startExport({
      source_url,
      type: 'excel',
      file_name: 'orders',
      operator_id: 'lin',
    })
    const refusing = await startSource(() => ({
      total: 1,
      data: [{ a: 1 }],
      template: [{ name: 'a', type: 'colour' }],
    }))
    const failed = await bench.wharf.startExport({ source_url: refusing, file_name: 'refused' })
    for (const task of [finished, failed]) {
      await until('the exports have ended', async () => {
        const answer = await fetch(`${bench.wharf.address}/api/exports/${task}`, {
          headers: { authorization: `Bearer ${bench.wharf.demoKey}` },
        })
        return ((await answer.json()) as { finished_at: string | null }).finished_at
      })
    }
  }

  test.each([
    { colorScheme: 'light', locale: 'en-US', reducedMotion: 'no-preference', title: 'Sign in to Wharf' },
    { colorScheme: 'dark', locale: 'zh-CN', reducedMotion: 'reduce', title: '登录 Wharf' },
  ] as const)('no page has a serious fault, in the $colorScheme, for $locale', async (given) => {
    finished ?? (await makeExports())
    const signIn = await bench.visit(given)
    await signIn.getByRole('heading', { name: given.title }).waitFor()
    expect(await seriousFaults(signIn)).toEqual([])
    const page = await bench.visit({ ...given, key: bench.wharf.adminToken })
    await expect
      .poll(() => page.locator('html').getAttribute('lang'))
      .toBe(given.locale === 'zh-CN' ? 'zh-CN' : 'en')
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe(given.colorScheme)
    for (const { name, path, ready } of places()) {
      await page.goto(`${bench.wharf.address}${path}`)
      await ready(page)
      expect(await seriousFaults(page), name).toEqual([])
      await bench.shoot(page, `${name}-${given.colorScheme}`)
      if (given.locale !== 'zh-CN') continue
      await expect
        .poll(() => page.locator('main').textContent(), { message: `${name} has keys in place of words` })
        .not.toMatch(/\b(common|exports|overview)\.\w+/)
    }
    for (const { name, path, open } of overlays) {
      await page.goto(`${bench.wharf.address}${path}`)
      await page.locator('[data-link="live"]').waitFor()
      await page.locator('main h1').waitFor()
      await open(page)
      const dialog = page.locator('dialog[open]')
      await dialog.waitFor()
      // Something to fill in or to leave by, and never the button that only closes.
      const focused =
        'document.activeElement.closest("dialog") && !document.activeElement.closest(".dialog-head")'
      await expect.poll(() => page.evaluate(focused), { message: `focus in ${name}` }).toBeTruthy()
      expect(await seriousFaults(page), name).toEqual([])
      await bench.shoot(page, `${name}-${given.colorScheme}`)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
  })

  test('tasks, accounts and pages are a few keys away', async () => {
    finished ?? (await makeExports())
    const page = await bench.visit({ key: bench.wharf.adminToken })
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.keyboard.press('n')
    await page.locator('#source_url:focus').waitFor()
    // A letter that is typed is a letter.
    await page.keyboard.type('n?')
    await expect.poll(() => page.locator('#source_url').inputValue()).toBe('n?')
    // Also where nothing has the focus, beside a form that is being filled in.
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('?')
    await page.keyboard.type('gr')
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0)
    expect(page.url()).toContain('/exports/new')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Command palette' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('orders')
    await page
      .getByRole('option', { name: /^orders\.xlsx/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.detail-history').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  })

  test('every page fits a phone', async () => {
    finished ?? (await makeExports())
    const page = await bench.visit({ viewport: PHONE, key: bench.wharf.adminToken })
    for (const { name, path, ready } of places()) {
      await page.goto(`${bench.wharf.address}${path}`)
      await ready(page)
      await expect.poll(() => sidewaysScroll(page), { message: name }).toBeLessThanOrEqual(0)
      await bench.shoot(page, `${name}-phone`)
    }
  })

  test('a long name without a blank is wrapped or cut on every page', async () => {
    const long = 'N'.repeat(190)
    const api = (path: string, body: object, key: string) =>
      fetch(`${bench.wharf.address}${path}`, {
        method: path.startsWith('/api/projects') ? 'POST' : 'PUT',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const source_url = `${bench.wharf.address}/samples/orders?rows=3`
    const request = { source_url, title: 'T'.repeat(300), operator_id: 'O'.repeat(100) }
    await api(`/api/saved-exports/${long}`, request, bench.wharf.demoKey)
    await api(`/api/templates/${long}`, { template: [{ name: 'a', title: long }] }, bench.wharf.demoKey)
    await api(`/api/accounts/${'H'.repeat(100)}`, { url: `${source_url}&${long}` }, bench.wharf.adminToken)
    const made = await api('/api/projects', { name: long }, bench.wharf.adminToken)
    const { project_id } = (await made.json()) as { project_id: string }
    const task = await bench.wharf.startExport({ ...request, file_name: 'F'.repeat(150), fresh: true })
    const lost = `${bench.wharf.address}/${'x'.repeat(300)}`
    const failed = await bench.wharf.startExport({ ...request, source_url: lost })
    const paths = [
      ...['/exports', `/exports/${task}`, `/exports/${failed}`, '/saved/exports', `/saved/exports/${long}`],
      ...['/saved/templates', `/saved/templates/${long}`, '/runs', `/runs/${'H'.repeat(100)}`],
      ...['/admin/projects', `/admin/projects/${project_id}`, '/admin/audit', '/overview'],
      `/exports/new?from=${task}`,
    ]
    for (const width of [PHONE.width, 1440]) {
      const page = await bench.visit({ viewport: { width, height: 844 }, key: bench.wharf.adminToken })
      for (const path of paths) {
        await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
        await page.locator('main h1').first().waitFor()
        await page.locator('main .panel, main .list-panel, main table, main form').first().waitFor()
        await expect
          .poll(() => sidewaysScroll(page), { message: `${path} at ${width}` })
          .toBeLessThanOrEqual(0)
      }
    }
  })

  test('language and colours can be switched, and stay so', async () => {
    const page = await bench.visit({ key: bench.wharf.demoKey })
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByRole('heading', { name: '导出' }).waitFor()
    await page.getByRole('button', { name: '主题：跟随系统' }).click()
    await page.getByRole('button', { name: '主题：浅色' }).click()
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.reload()
    await page.getByRole('heading', { name: '导出' }).waitFor()
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  })

  test('an export can be asked for with the keyboard alone', async () => {
    const page = await bench.visit()
    await page.locator('input[type="password"]:focus').waitFor()
    await page.keyboard.type(bench.wharf.demoKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Exports' }).waitFor()
    const press = async (name: string) => {
      await until(`'${name}' has the focus`, async () => {
        await page.keyboard.press('Tab')
        return page.evaluate(`document.activeElement?.textContent === ${JSON.stringify(name)}`)
      })
      await page.keyboard.press('Enter')
    }
    await press('New export')
    await page.locator('#source_url:focus').waitFor()
    await page.keyboard.type(`${bench.wharf.address}/samples/orders?rows=3`)
    await page.keyboard.press('Enter')
    await page.getByText('Done').first().waitFor()
  })
})
