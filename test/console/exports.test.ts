import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole } from '../support/console.ts'
import { pagesOf, startSource } from '../support/source-server.ts'
import { until } from '../support/until.ts'

/** A source whose pages after the first come only when they are let go. */
async function startHeldSource() {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const answer = pagesOf(1_000, (n) => ({ id: n, name: `row ${n}` }))
  const url = await startSource(async (asked) => {
    if (asked.page > 0) await released
    return answer(asked)
  })
  return { url: `${url}/rows`, release }
}

const row = (page: Page, taskId: string) => page.locator(`[data-row="${taskId}"]`)

describeConsole(
  'the exports page',
  (bench) => {
    const body = (more: object = {}) => ({
      source_url: `${bench.wharf.address}/samples/orders?rows=5`,
      fresh: true,
      ...more,
    })

    test('an export moves as it happens, says why the next one waits, and can be stopped and tried again', async () => {
      const source = await startHeldSource()
      const page = await bench.visit({ key: bench.wharf.demoKey })
      await page.getByText('No exports yet').waitFor()
      const first = await bench.wharf.startExport({ source_url: source.url, file_name: 'held' })
      await row(page, first).getByText('500 of 1,000 rows').waitFor()
      await row(page, first).getByText('Fetching').waitFor()
      const second = await bench.wharf.startExport(body({ file_name: 'second' }))
      await row(page, second).getByText('Queued').waitFor()
      await bench.shoot(page, 'exports')

      await row(page, second).getByRole('link').click()
      await page.getByText('No. 1 in the queue. 1 of 1 exports are running.').waitFor()
      await bench.shoot(page, 'waits')
      await page.getByRole('link', { name: 'Exports' }).last().click()

      await row(page, first).getByRole('button', { name: 'Stop' }).click()
      await page.locator('.ant-popconfirm').getByRole('button', { name: 'Stop' }).dblclick()
      await row(page, first).getByText('Cancelled').waitFor()
      await row(page, second).getByText('Done').waitFor()
      source.release()
      await row(page, first).getByRole('button', { name: 'Retry' }).dblclick()
      await row(page, first).getByText('Done').waitFor()
      expect(await page.locator('.toast[data-tone="bad"]').allTextContents()).toEqual([])
    })

    test('a failure is told in words, with its code', async () => {
      const page = await bench.visit({ key: bench.wharf.demoKey })
      const source = await startSource(() => ({
        total: 1,
        data: [{ a: 1 }],
        template: [{ name: 'a', type: 'colour' }],
      }))
      const task = await bench.wharf.startExport({ source_url: source, file_name: 'refused' })
      await row(page, task)
        .getByTitle(/found "colour".*TEMPLATE_INVALID/)
        .waitFor()
      await row(page, task).getByRole('link').click()
      await page.getByRole('alert').getByText('found "colour"').waitFor()
    })

    test('the history has each stage with its length, and what the source answers while it fails', async () => {
      let fails = true
      const answer = pagesOf(1_000, (n) => ({ id: n }))
      const url = await startSource((asked) => {
        if (asked.page === 0 || !fails) return answer(asked)
        return void asked.response.writeHead(500).end('out of order')
      })
      const task = await bench.wharf.startExport({ source_url: `${url}/rows`, file_name: 'stumbles' })
      const page = await bench.visit({ key: bench.wharf.demoKey, path: `/exports/${task}` })
      await page.getByText('The source answered with an error. Wharf asks it again by itself.').waitFor()
      const history = page.getByRole('region', { name: 'History' })
      await history.getByText(/^Source errors since/).waitFor()
      await history.getByText('The source answered with an error. Its owner').waitFor()
      await history.getByText('SOURCE_STATUS').waitFor()
      await bench.shoot(page, 'stumbles')
      fails = false
      await history.getByText('Done').waitFor()
      const stages = await history.locator('.detail-history-what').allTextContents()
      expect(stages.slice(0, 2)).toEqual(['Requested', 'Fetching rows'])
      expect(stages.at(-1)).toBe('Done')
      await expect.poll(() => history.locator('.detail-history-length').count()).toBe(stages.length - 1)
    })

    test('what was filled in stays while one looks elsewhere; a wrong field that is folded away is shown', async () => {
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports/new?sample' })
      await page.getByText('Reading the rows').click()
      await page.getByLabel('Rows per request').fill('7')
      await page.getByText('Reading the rows').click()
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByLabel('Rows per request').and(page.locator(':focus')).waitFor()
      await page.getByText('Between 100 and 1000').waitFor()
      await page.getByLabel('Rows per request').fill('500')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.locator('.sheet').waitFor()
      await page.getByLabel('File name').fill('kept')
      await page.getByRole('link', { name: 'Processing' }).click()
      await page.getByRole('heading', { name: 'Processing' }).waitFor()
      await page.goBack()
      await expect.poll(() => page.getByLabel('File name').inputValue()).toBe('kept')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.locator('.sheet').waitFor()
      await page.getByLabel('Source address').fill('https://elsewhere.example/rows')
      await page.locator('.sheet').waitFor({ state: 'detached' })
    })

    test('a template that is typed is used where the source brings one too', async () => {
      const url = await startSource(
        pagesOf(3, (n) => ({ a: n }), { template: [{ name: 'a', title: 'Theirs' }] }),
      )
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports/new' })
      await page.getByLabel('Source address').fill(`${url}/rows`)
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('cell', { name: 'Theirs' }).waitFor()
      await page.getByText('JSON', { exact: true }).click()
      await page.getByRole('textbox', { name: 'Template (JSON)' }).click()
      await page.keyboard.insertText('[{"name": "a", "title": "Mine"}]')
      await page.getByRole('cell', { name: 'Mine' }).waitFor()
    })

    test('a template that the source overrules is said to be so once, and can be used instead', async () => {
      const url = await startSource(
        pagesOf(3, (n) => ({ a: n }), { template: [{ name: 'a', title: 'Theirs' }] }),
      )
      const template = [{ name: 'a', title: 'Mine' }]
      const task = await bench.wharf.startExport({
        source_url: `${url}/rows`,
        template,
        template_from: 'source',
      })
      const page = await bench.visit({ key: bench.wharf.demoKey, path: `/exports/${task}` })
      await page.getByRole('button', { name: 'Edit and run' }).click()
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('cell', { name: 'Theirs' }).waitFor()
      expect(await page.getByText(/^The source (brings|sent)/).allTextContents()).toEqual([
        'The source brings its own template, so yours is not used.',
      ])
      await page.getByRole('button', { name: 'Use mine' }).click()
      await page.getByRole('cell', { name: 'Mine' }).waitFor()
    })

    test('who asked for an export is told of its end, by the browser when nobody looks', async () => {
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports/new?sample' })
      await page.evaluate(`{
        window.told = []
        window.Notification = class {
          static requestPermission = async () => 'granted'
          constructor(title) { window.told.push(title) }
          close() {}
        }
        document.hasFocus = () => false
      }`)
      await page.getByRole('button', { name: 'Notify me when my exports finish' }).click()
      await page.getByRole('button', { name: 'Start export' }).click()
      await expect.poll(() => page.evaluate('window.told')).toEqual(['orders is ready'])
    })

    test('an error of the template is marked at its place, by the form and by the server', async () => {
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports/new?sample' })
      await page.getByText('JSON', { exact: true }).click()
      const editor = page.getByRole('textbox', { name: 'Template (JSON)' })
      await editor.click()
      await page.keyboard.insertText('[{"name": "id"}, {"name": "x", "type": "colour"}')
      await page.locator('.cm-lint-marker-error').waitFor()
      await page.keyboard.insertText(']')
      await page.locator('.cm-lint-marker-error').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByText('TEMPLATE_INVALID').waitFor()
      await page.locator('.cm-lintRange-error').waitFor()
      await page.locator('.cm-lintRange-error', { hasText: /^"colour"$/ }).waitFor()
      await bench.shoot(page, 'template-error')
    })

    test('a link that was copied downloads the file without a key', async () => {
      const page = await bench.visit({
        key: bench.wharf.demoKey,
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      const task = await bench.wharf.startExport(body({ file_name: 'linked' }))
      await row(page, task).getByRole('button', { name: 'Copy link' }).click()
      const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
      const link = await until('a link is copied', clipboard, (text) => text.startsWith('http'))
      const answer = await fetch(link)
      expect(answer.headers.get('content-disposition')).toContain('linked.csv')
      expect((await answer.text()).split('\r\n')).toHaveLength(7)
    })

    test('with the admin token the project is chosen, and the last hour is shown', async () => {
      const page = await bench.visit({ key: bench.wharf.adminToken, path: '/overview' })
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.getByText('Leader').waitFor()
      await page.getByRole('img', { name: /^Exports: \d+ ended in the last hour/ }).waitFor()
      await page.locator('canvas').first().waitFor()
      await bench.shoot(page, 'overview')
      const made = await fetch(`${bench.wharf.address}/api/projects`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bench.wharf.adminToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'zebra' }),
      })
      expect(made.status).toBe(201)
      await page.getByRole('navigation').getByRole('link', { name: 'Exports' }).click()
      await page.locator('[data-row]').first().waitFor()
      await page.reload()
      await page.getByRole('combobox', { name: 'All projects' }).click()
      await page.getByTitle('zebra').click()
      await page.getByText('Nothing matches').waitFor()
      expect(new URL(page.url()).searchParams.get('project_id')).toBeTruthy()
    })

    test('the list can be searched, filtered and sorted, and a reload keeps what was chosen', async () => {
      const tasks = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          bench.wharf.startExport(body({ file_name: `batch-${n}`, operator_id: n === 7 ? 'lin' : 'wu' })),
        ),
      )
      const page = await bench.visit({ key: bench.wharf.demoKey, viewport: { width: 1440, height: 900 } })
      const rows = page.locator('[data-row]')
      await until('a screen is full', async () => (await rows.count()) >= 18)
      const search = page.getByRole('textbox', { name: 'Search name, title, operator or id' })
      await search.fill('BATCH-7')
      await until('one is left', async () => (await rows.count()) === 1)
      await page.reload()
      await row(page, tasks[7] as string).waitFor()
      await expect.poll(() => rows.count()).toBe(1)
      await search.fill('100%')
      await page.getByText('Nothing matches').waitFor()
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.getByRole('combobox', { name: 'Any operator' }).click()
      await page.getByTitle('lin', { exact: true }).click()
      await until('one is left', async () => (await rows.count()) === 1)
      await page.goto(`${bench.wharf.address}/exports?search=batch-&period=today`)
      await page.getByText('30 exports').waitFor()
      await page.getByRole('button', { name: 'File' }).click()
      await page.getByRole('button', { name: 'File' }).click()
      await expect.poll(() => rows.first().getAttribute('data-row')).toBe(tasks[0])
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('checkbox', { name: 'Operator' }).uncheck()
      await page.reload()
      await rows.first().waitFor()
      await expect.poll(() => page.getByRole('columnheader', { name: 'Operator' }).count()).toBe(0)
    })

    test('many are stopped at once, after a moment in which it can be undone', async () => {
      const source = await startHeldSource()
      const held = await Promise.all(
        [1, 2, 3].map((n) =>
          bench.wharf.startExport({ source_url: source.url, file_name: `many-${n}`, fresh: true }),
        ),
      )
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports?search=many-' })
      for (const task of held.slice(0, 2)) await row(page, task).getByRole('checkbox').check()
      await page.getByText('2 selected').waitFor()
      await expect
        .poll(() => page.getByRole('toolbar').getByRole('button', { name: 'Retry' }).count())
        .toBe(0)
      await page.getByRole('toolbar').getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).check()
      await page.getByText('3 selected').waitFor()
      await page.getByRole('toolbar').getByRole('button', { name: 'Stop' }).click()
      await page.getByText('3 stopped').waitFor()
      for (const task of held) await row(page, task).getByText('Cancelled').waitFor()
      source.release()
    })

    test('the last of thousands of rows is reached by scrolling, and few of them are drawn', async () => {
      const task = await bench.wharf.startExport(body({ file_name: 'one of many' }))
      const page = await bench.visit({ key: bench.wharf.demoKey, path: `/exports/${task}` })
      const answer = await fetch(`${bench.wharf.address}/api/exports/${task}`, {
        headers: { authorization: `Bearer ${bench.wharf.demoKey}` },
      })
      const one = (await answer.json()) as object
      // As the server would answer if there were so many.
      await page.route('**/api/exports?*', (route) => {
        const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
        const items = Array.from({ length: 100 }, (_, n) => ({ ...one, task_id: `row-${at + n}` }))
        const next_cursor = at + 100 < 3_000 ? String(at + 100) : null
        return route.fulfill({ json: { items, next_cursor, total: { count: 3_000, exact: true } } })
      })
      await page.getByRole('link', { name: 'Exports' }).first().click()
      await row(page, 'row-0').waitFor()
      const toTheEnd = `(() => { const area = document.querySelector('.window-table'); area.scrollTop = area.scrollHeight })()`
      await until('the last one is there', async () => {
        await page.evaluate(toTheEnd)
        return (await row(page, 'row-2999').count()) === 1
      })
      await expect.poll(() => page.locator('[data-row]').count()).toBeLessThan(100)
    })

    test('on paper the list has its rows and which these are, and nothing that is pressed', async () => {
      const body = {
        source_url: `${bench.wharf.address}/samples/orders?rows=3`,
        file_name: 'on paper',
        fresh: true,
      }
      await bench.wharf.startExport(body)
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports?search=on+paper' })
      await page.locator('[data-row]').first().waitFor()
      await page.emulateMedia({ media: 'print' })
      await page.getByText('Rows 1 to 1 of 1').waitFor()
      const pressed = page
        .locator('nav, main button:not(th > button), .exports-filters')
        .locator('visible=true')
      await expect.poll(() => pressed.count()).toBe(0)
      const cut = `document.querySelector('.window-table').scrollWidth > document.querySelector('.window-table').clientWidth`
      expect(await page.evaluate(cut)).toBe(false)
      const left = `document.querySelector('.list-page').getBoundingClientRect().left`
      expect(await page.evaluate(left)).toBe(0)
    })
  },
  { WHARF_EXPORT_CONCURRENCY: '1' },
)
