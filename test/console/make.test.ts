import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole, seriousFaults } from '../support/console.ts'
import { consoleWords } from '../support/console-words.ts'
import { until } from '../support/until.ts'

/** Whether the top of an element is where one looks. */
const TOP_IN_VIEW = ((element: { getBoundingClientRect(): { top: number } }) => {
  const { top } = element.getBoundingClientRect()
  return top >= 0 && top < 700
}) as never

const WORDS = {
  en: {
    locale: 'en-US',
    load: 'Load the columns',
    ready: /^The preview is ready: \d+ rows$/,
    up: 'Move up',
    group: 'Group under a header',
    header: 'Header',
    total: 'Below the column',
    sum: 'Sum',
    save: 'Save…',
    name: 'Name',
    every: 'Runs',
    month: 'Every month',
    go: 'Save',
    said: /^On day 1 of every month at 06:00/,
    run: 'Run now',
    done: 'Done',
    again: 'Run again',
    edit: 'Edit and run',
    start: 'Start export',
  },
  zh: {
    locale: 'zh-CN',
    load: '加载列',
    ready: /^预览已生成：\d+ 行$/,
    up: '上移',
    group: '合并到一个表头',
    header: '表头',
    total: '列底部',
    sum: '合计',
    save: '保存…',
    name: '名称',
    every: '运行频率',
    month: '每月',
    go: '保存',
    said: /^每月 1 日 06:00/,
    run: '立即运行',
    done: '已完成',
    again: '再次运行',
    edit: '修改后运行',
    start: '开始导出',
  },
} as const

describeConsole('making exports', (bench) => {
  const api = async (
    method: string,
    path: string,
    { body, key = bench.wharf.demoKey }: { body?: object; key?: string } = {},
  ) => {
    const answer = await fetch(`${bench.wharf.address}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as Record<string, unknown>
  }
  const node = (page: Page, title: string) => page.locator('.builder-node', { hasText: title })

  test.each(['en', 'zh'] as const)(
    'a monthly report with a header tree is made and scheduled without a line of JSON, and run again (%s)',
    async (language) => {
      const words = WORDS[language]
      const name = `monthly-${language}`
      const page = await bench.visit({
        key: bench.wharf.demoKey,
        path: '/exports/new?sample',
        locale: words.locale,
        viewport: { width: 1440, height: 1000 },
      })
      const button = (label: string) => page.getByRole('button', { name: label, exact: true })
      await button(words.load).click()
      // Brought into view, and said to those who only hear the page.
      await page.getByRole('status').filter({ hasText: words.ready }).waitFor()
      await expect.poll(() => page.locator('.sheet').evaluate(TOP_IN_VIEW)).toBe(true)

      // With the keyboard: the balance above its group, and then out of it.
      await node(page, 'Balance').locator('.builder-name').press('Enter')
      await page.getByRole('button', { name: words.up }).press('Enter')
      await page.getByRole('button', { name: words.up }).and(page.locator(':focus')).waitFor()
      await page.keyboard.press('Enter')
      await expect
        .poll(() => page.locator('.builder-title').allTextContents())
        .toEqual([
          '订单号 Order',
          '客户 Customer',
          '姓名 Name',
          '城市 City',
          '余额 Balance',
          '金额 Amounts',
          '收入 Income',
          '金额 Amount',
          '折扣 Discount',
          '状态 Status',
          '下单时间 Created',
          '送货 Delivery',
          '加急 Express',
        ])
      // With the mouse: the status to the top.
      await node(page, 'Status').dragTo(node(page, '订单号 Order'), { targetPosition: { x: 60, y: 3 } })
      await expect.poll(() => page.locator('.builder-title').first().textContent()).toBe('状态 Status')
      await node(page, 'Delivery').locator('input[type="checkbox"]').check()
      await node(page, 'Express').locator('input[type="checkbox"]').check()
      await page.getByRole('button', { name: words.group }).click()
      // The header of the new group is what one types next; no letter of it is a shortcut.
      await page.getByLabel(words.header, { exact: true }).and(page.locator(':focus')).waitFor()
      await page.keyboard.type('Shipping')
      expect(await seriousFaults(page)).toEqual([])
      await node(page, '金额 Amount').last().locator('.builder-name').click()
      await page.getByLabel(words.total).click()
      await page.getByTitle(words.sum, { exact: true }).click()
      await page.locator('.sheet').getByRole('cell', { name: 'Shipping' }).waitFor()
      await bench.shoot(page, `builder-${language}`)

      await button(words.save).click()
      await page.getByLabel(words.name, { exact: true }).fill(name)
      await page.getByRole('combobox', { name: words.every }).click()
      await page.getByTitle(words.month, { exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: words.go, exact: true }).click()
      await page.getByText(words.said).waitFor()
      const saved = await api('GET', `/api/saved-exports/${name}`)
      expect(saved).toMatchObject({
        schedule: { cron: '0 6 1 * *' },
        request: { title: 'Orders', template_from: 'request' },
      })
      expect(saved.next_runs).toHaveLength(5)

      await button(words.run).dblclick()
      await page.getByText(words.done, { exact: true }).first().waitFor()
      const first = page.url()
      await button(words.again).dblclick()
      await until('another export is shown', () => page.url() !== first && page.url().includes('/exports/'))
      await page.getByText(words.done, { exact: true }).first().waitFor()
      const task = page.url().split('/').at(-1) as string
      expect(await api('GET', `/api/exports/${task}`)).toMatchObject({ status: 'succeeded', type: 'excel' })
      // Two clicks are one wish, and no error.
      await expect.poll(() => page.locator('.toast[data-tone="bad"]').count()).toBe(0)
      const { items } = (await api('GET', '/api/exports?search=orders')) as { items: unknown[] }
      expect(items).toHaveLength(language === 'en' ? 2 : 4)
    },
  )

  test('what the server has against a field is said at the field, in its words and language', async () => {
    const page = await bench.visit({
      key: bench.wharf.demoKey,
      path: '/exports/new?sample',
      locale: 'zh-CN',
    })
    await page.getByLabel('文件名').fill('x'.repeat(1_001))
    await page.getByRole('button', { name: '开始导出' }).click()
    await page.locator('#file_name:focus').waitFor()
    await page.locator('.ant-form-item-explain', { hasText: '最多 1000 个字符' }).waitFor()
    await page.getByRole('alert').getByText('文件名：最多 1000 个字符').waitFor()
  })

  test('an export is changed and run with the secrets that it had, which the page never sees', async () => {
    const source_url = `${bench.wharf.address}/samples/orders?rows=5`
    const task = await bench.wharf.startExport({
      source_url,
      source_headers: { 'X-Token': 'secret-token-9' },
      file_name: 'first',
    })
    const page = await bench.visit({ key: bench.wharf.demoKey, path: `/exports/${task}` })
    await page.getByText('X-Token').waitFor()
    await page.getByRole('button', { name: 'Edit and run' }).click()
    await page.getByLabel('File name').fill('second')
    await page.getByLabel('Source address').fill(`${source_url}&month=2`)
    expect(await page.content()).not.toContain('secret-token-9')
    await page.getByRole('button', { name: 'Start export' }).click()
    await page.getByRole('heading', { name: 'second.csv' }).waitFor()
    await page.getByText('X-Token').waitFor()
    expect(page.url()).not.toContain(task)
  })

  test('warnings are said in the language of the page, in the preview too', async () => {
    const source_url = `${bench.wharf.address}/samples/orders?rows=5`
    const template = [{ name: 'id' }, { name: 'nobody' }]
    const task = await bench.wharf.startExport({ source_url, template, template_from: 'request' })
    const said = {
      'en-US': 'No row has a value for column “nobody”',
      'zh-CN': '没有任何行含有列“nobody”的值',
    }
    for (const [locale, text] of Object.entries(said)) {
      const page = await bench.visit({ key: bench.wharf.demoKey, path: `/exports/${task}`, locale })
      await page.getByText(text, { exact: true }).waitFor()
      await page.goto(`${bench.wharf.address}/exports/new?from=${task}`)
      await page.getByRole('button', { name: locale === 'zh-CN' ? '预览' : 'Preview' }).click()
      await page.getByText(text, { exact: true }).waitFor()
    }
  })

  test('a request is shown field by field, its headers by name, and as JSON', async () => {
    const url = `${bench.wharf.address}/samples/orders?rows=5`
    const task = await bench.wharf.startExport({
      source: {
        kind: 'http',
        preset: 'wharf',
        url,
        headers: { 'X-Token': 'secret-token-9' },
        total: 'total',
      },
      csv: { delimiter: ';' },
      key: ['id', 'customer'],
    })
    const page = await bench.visit({ key: bench.wharf.demoKey, path: `/exports/${task}` })
    const fact = (name: string) =>
      page.locator('dl.fact-list > div', { has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) })
    const shown = async (name: string) => ((await fact(name).locator('dd').textContent()) ?? '').trim()
    await fact('Headers').waitFor()
    expect(await shown('Headers')).toBe('X-Token')
    expect(await shown('Source')).toBe(url)
    expect(await shown('Kind of API')).toMatch(/^Wharf's own.*\s*Where the number of rows is: total$/)
    expect(await shown('CSV')).toContain('Delimiter: ;')
    expect(await shown('Key columns')).toBe('id, customer')
    await page.getByText('JSON', { exact: true }).first().click()
    await page.getByText('"delimiter": ";"').waitFor()
    expect(await page.content()).not.toContain('secret-token-9')
  })

  test('an admin saves an export of any project there, with the words for its dates, and is warned of dates that stay', async () => {
    const key = bench.wharf.adminToken
    const { project_id, api_key } = await api('POST', '/api/projects', { key, body: { name: 'words' } })
    const own = { key: String(api_key) }
    const source_url = `${bench.wharf.address}/samples/orders?rows=5&from=`
    const start = async (body: object) => (await api('POST', '/api/exports', { ...own, body })).task_id
    const kept = async (name: string) =>
      (await api('GET', `/api/saved-exports/${name}`, own)) as { request: { source_url: string } }

    const written = await start({ source_url: `${source_url}{{last_month.start}}`, parameters: {} })
    const page = await bench.visit({ key, path: `/exports/${written}` })
    await page.locator('.project-choice-name', { hasText: 'words' }).waitFor()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('menuitem', { name: 'With the dates of today' }).waitFor()
    await page.getByRole('menuitem', { name: 'For the same dates' }).click()
    await page.waitForURL((url) => !url.pathname.endsWith(String(written)))
    await page.getByText('Done', { exact: true }).first().waitFor()

    const saveMonthly = async (name: string) => {
      await page.getByRole('button', { name: 'Save as…' }).click()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByRole('combobox', { name: 'Runs', exact: true }).click()
      await page.getByTitle('Every month', { exact: true }).click()
    }
    const save = () => page.getByRole('button', { name: 'Save', exact: true }).click()
    await saveMonthly('monthly-words')
    await expect.poll(() => page.getByRole('button', { name: 'Replace by words' }).count()).toBe(0)
    await save()
    await page.getByText(/^On day 1 of every month/).waitFor()
    expect((await kept('monthly-words')).request.source_url).toBe(`${source_url}{{last_month.start}}`)

    const [year = 0, month = 0] = [new Date().getFullYear(), new Date().getMonth()]
    const date = new Date(Date.UTC(year, month - 1, 1)).toISOString().slice(0, 10)
    const fixed = await start({ source_url: `${source_url}${date}`, project_id })
    await page.goto(`${bench.wharf.address}/exports/${fixed}`)
    await saveMonthly('monthly-fixed')
    await page.getByText(`Every run would ask for the same dates: ${date}`).waitFor()
    await page.getByRole('button', { name: 'Replace by words' }).click()
    await page.getByText('Every run would ask').waitFor({ state: 'detached' })
    await save()
    await page.getByText(/^On day 1 of every month/).waitFor()
    expect((await kept('monthly-fixed')).request.source_url).toBe(`${source_url}{{last_month.start}}`)
  })

  test('rows of a database are exported by form, from a connection that the project was granted', async () => {
    const path = join(bench.wharf.dataDir, 'shop.db')
    const database = new DatabaseSync(path)
    database.exec(
      "create table orders (id integer, city text); insert into orders values (1, 'Oslo'), (2, 'Kiel')",
    )
    database.close()
    const key = bench.wharf.adminToken
    const { items } = (await api('GET', '/api/projects', { key })) as { items: { project_id: string }[] }
    const projects = items.map(({ project_id }) => project_id)
    await api('PUT', '/api/connections/shop', { key, body: { driver: 'sqlite', url: path, projects } })
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports/new' })
    await page.getByText('Database', { exact: true }).click()
    // What is missing is shown and focused.
    await page.getByRole('button', { name: 'Start export' }).click()
    await page.getByText('Choose a database').waitFor()
    await page.locator('#sql_connection').click()
    await page.getByTitle('shop (sqlite)').click()
    await page.getByLabel('Query').fill('select id, city from orders where id >= ?')
    await page.getByRole('button', { name: 'Add value' }).click()
    await page.getByRole('combobox', { name: 'Kind of value' }).click()
    await page.getByTitle('Number', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Value', exact: true }).first().fill('2')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.locator('.sheet').getByRole('cell', { name: 'Kiel' }).waitFor()
    await expect.poll(() => page.locator('.sheet').getByRole('cell', { name: 'Oslo' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Start export' }).click()
    await page.getByText('Done', { exact: true }).first().waitFor()
  })

  test.each([
    { language: 'en', locale: 'en-US' },
    { language: 'zh', locale: 'zh-CN' },
  ] as const)(
    'the request of an export and of a saved one names the type of the file ($language)',
    async (given) => {
      const say = consoleWords(given.language)
      const source_url = `${bench.wharf.address}/samples/orders?rows=3`
      const task = await bench.wharf.startExport({ source_url, type: 'excel', fresh: true })
      const put = (name: string, body: object) =>
        fetch(`${bench.wharf.address}/api/saved-exports/${name}`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${bench.wharf.demoKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      await put('typed', { source_url, type: 'parquet' })
      await put('untyped', { source_url })
      const page = await bench.visit({ key: bench.wharf.demoKey, locale: given.locale })
      for (const [path, type] of [
        [`/exports/${task}`, 'excel'],
        ['/saved/exports/typed', 'parquet'],
        ['/saved/exports/untyped', 'csv'],
      ]) {
        await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
        const panel = page.locator('.panel', { hasText: say('make.request.columns') })
        const fact = panel.locator('.fact-list > div', { hasText: say('exports.fact.type') }).first()
        await expect.poll(() => fact.locator('dd').textContent()).toBe(say(`exports.type.${type}`))
      }
    },
  )

  test('an export whose answer was lost is said to be unknown, and sent again it is made once', async () => {
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports/new?sample' })
    const attempts: (string | undefined)[] = []
    await page.route('**/api/exports', (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      attempts.push(route.request().headers()['idempotency-key'])
      return attempts.length === 1 ? route.abort() : route.continue()
    })
    const send = page.getByRole('button', { name: 'Start export' })
    await send.click()
    await page
      .getByRole('alert')
      .getByText('It is not known whether this was accepted. Send it again: it is never made twice.')
      .waitFor()
    await send.click()
    await page.waitForURL(/\/exports\/[0-9a-f-]{36}$/)
    expect(attempts[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(attempts).toEqual([attempts[0], attempts[0]])
  })

  test('the palette finds saved exports and templates by name and title, and leads to them', async () => {
    const source_url = `${bench.wharf.address}/samples/orders?rows=3`
    await api('PUT', '/api/saved-exports/never-run', { body: { source_url, title: 'Quarter 季报' } })
    await api('PUT', '/api/templates/quarter-columns', { body: { template: { id: 'Id' } } })
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports' })
    const search = async (text: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Command palette' }).fill(text)
    }
    await search('季报')
    await page.getByRole('option', { name: /^never-run/ }).click()
    await page.waitForURL(/\/saved\/exports\/never-run$/)
    await search('quarter-col')
    await page.getByRole('option', { name: /^quarter-columns/ }).click()
    await page.waitForURL(/\/saved\/templates\/quarter-columns$/)
  })

  test('a column that hides its values says that it has no total, and its fields stay inside their panel', async () => {
    const page = await bench.visit({
      key: bench.wharf.demoKey,
      path: '/exports/new?sample',
      viewport: { width: 1440, height: 900 },
    })
    await page.getByRole('button', { name: 'Load the columns' }).click()
    await page.getByRole('button', { name: /Amount amount/ }).click()
    await page.getByLabel('Hide values', { exact: true }).click()
    await page.locator('.ant-select-item-option', { hasText: 'a***@example.com' }).click()
    await page
      .getByText('Hidden values are texts, whatever the type, and have no total but a count.')
      .waitFor()
    const beyond = `(() => {
      const { right } = document.querySelector('.builder-form').getBoundingClientRect()
      const fields = [...document.querySelectorAll('.builder-form .ant-select')]
      return fields.filter((field) => field.getBoundingClientRect().right > right).length
    })()`
    expect(await page.evaluate(beyond)).toBe(0)
  })
})
