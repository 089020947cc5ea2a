import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole } from '../support/console.ts'
import { startSource } from '../support/source-server.ts'
import { until } from '../support/until.ts'

const row = (page: Page, taskId: string) => page.locator(`[data-row="${taskId}"]`)
const toolbar = (page: Page) => page.getByRole('toolbar', { name: 'Selected exports' })

describeConsole('many exports at once', (bench) => {
  const body = (more: object = {}) => ({
    source_url: `${bench.wharf.address}/samples/orders?rows=5`,
    fresh: true,
    ...more,
  })
  const view = async (task: string) => {
    const answer = await fetch(`${bench.wharf.address}/api/exports/${task}`, {
      headers: { authorization: `Bearer ${bench.wharf.demoKey}` },
    })
    return (await answer.json()) as { status: string; download_url: string | null }
  }
  const ended = async (tasks: readonly string[]) => {
    for (const task of tasks)
      await until('it has ended', async () => /succeeded|failed/.test((await view(task)).status))
  }

  /** A list as the server would answer if there were so many; what is newer than the first ones has negative numbers. */
  const manyRows = async (page: Page, one: object, state: { newer: number; total: number }) => {
    await page.route('**/api/exports?*', (route) => {
      const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? -state.newer)
      const items = Array.from({ length: 100 }, (_, n) => ({ ...one, task_id: `row-${at + n}` }))
      const next_cursor = at + 100 < state.total ? String(at + 100) : null
      const total = { count: state.total + state.newer, exact: true }
      return route.fulfill({ json: { items, next_cursor, total } })
    })
  }

  test('back leads to the rows that were looked at, also when newer ones have come', async () => {
    const task = await bench.wharf.startExport(body({ file_name: 'far down' }))
    await ended([task])
    const state = { newer: 0, total: 3_000 }
    const page = await bench.visit({ key: bench.wharf.demoKey, path: `/exports/${task}` })
    await manyRows(page, await view(task), state)
    await page.getByRole('link', { name: 'Exports' }).first().click()
    await row(page, 'row-0').waitFor()
    const far = row(page, 'row-1500')
    await until('it is in view', async () => {
      await page.evaluate(`document.querySelector('.window-table').scrollTop = 1495 * 34`)
      return (await far.count()) === 1
    })
    await far.getByRole('link').click()
    await page.getByRole('heading', { name: 'History' }).or(page.getByRole('alert')).first().waitFor()
    state.newer = 300
    await bench.wharf.startExport(body())
    const isSeen = () =>
      page.evaluate<boolean>(`(() => {
        const area = document.querySelector('.window-table')?.getBoundingClientRect()
        const row = document.querySelector('[data-row="row-1500"]')?.getBoundingClientRect()
        return Boolean(area && row) && row.top >= area.top && row.bottom <= area.bottom
      })()`)
    await page.goBack()
    await until('it is in view again', isSeen)
    await page.goForward()
    // What was read before is forgotten, so every page is read anew.
    await page.reload()
    await page.goBack()
    await until('it is in view after a reload', isSeen)
  })

  test('what is selected stays offered while newer exports push it out of the rows that were read', async () => {
    const task = await bench.wharf.startExport(body({ file_name: 'one of many' }))
    await ended([task])
    const one = await view(task)
    const state = { newer: 0, total: 300 }
    const page = await bench.visit({
      key: bench.wharf.demoKey,
      path: `/exports/${task}`,
      prepare: (page) => manyRows(page, one, state),
    })
    await page.getByRole('link', { name: 'Exports' }).first().click()
    await row(page, 'row-0').waitFor()
    const arrive = async (count: number) => {
      state.newer += count
      await bench.wharf.startExport(body())
      await row(page, `row-${-state.newer}`).waitFor()
    }
    await row(page, 'row-0').getByRole('checkbox').check()
    await arrive(500)
    await toolbar(page).getByText('1 selected').waitFor()
    await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).check()
    await toolbar(page)
      .getByRole('button', { name: /^Select all/ })
      .click()
    await arrive(500)
    await toolbar(page).getByText('1,300 selected').waitFor()
    await expect
      .poll(() => toolbar(page).getByRole('button', { name: 'Delete files' }).isVisible())
      .toBe(true)
  })

  test('a double click starts an action for many, and does not stop or undo it', async () => {
    let fails = true
    const source = await startSource(({ response }) =>
      fails ? void response.writeHead(404).end() : { total: 1, data: [{ a: 1 }] },
    )
    const tasks = await Promise.all(
      [1, 2].map((n) =>
        bench.wharf.startExport({ source_url: `${source}/${n}`, file_name: `twice-${n}`, fresh: true }),
      ),
    )
    await ended(tasks)
    fails = false
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports?search=twice-' })
    await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).check()
    // Slow enough that the bar of what is under way is there when the second click comes.
    await page.route('**/api/exports/bulk', async (route) => {
      await page.locator('.bulk-bar[data-phase]').waitFor()
      await route.continue()
    })
    await toolbar(page).getByRole('button', { name: 'Retry' }).dblclick()
    await page.getByText('2 queued again').waitFor()
    for (const task of tasks) await row(page, task).getByText('Done').waitFor()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).check()
    await toolbar(page).getByRole('button', { name: 'Delete files' }).dblclick()
    await page.getByText('2 files deleted').waitFor()
  })

  test('a new selection takes the place of the result of the one before', async () => {
    const tasks = await Promise.all(
      [1, 2].map((n) => bench.wharf.startExport(body({ file_name: `next-${n}` }))),
    )
    await ended(tasks)
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports?search=next-' })
    const [first = '', second = ''] = tasks
    await row(page, first).getByRole('checkbox').check()
    await toolbar(page).getByRole('button', { name: 'Delete files' }).click()
    await page.locator('.bulk-bar').getByText('1 file deleted').waitFor()
    await row(page, second).getByRole('checkbox').check()
    await toolbar(page).getByRole('button', { name: 'Delete files' }).waitFor()
    await expect.poll(() => page.locator('.bulk-bar[data-phase]').count()).toBe(0)
    // Not again when the selection is given up.
    await row(page, second).getByRole('checkbox').uncheck()
    await expect.poll(() => page.locator('.bulk-bar').count()).toBe(0)
  })

  test('the result of what was begun is said also when the next rows were ticked meanwhile', async () => {
    const tasks = await Promise.all(
      [1, 2].map((n) => bench.wharf.startExport(body({ file_name: `while-${n}` }))),
    )
    await ended(tasks)
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports?search=while-' })
    const [first = '', second = ''] = tasks
    await row(page, first).getByRole('checkbox').check()
    await toolbar(page).getByRole('button', { name: 'Delete files' }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await row(page, second).getByRole('checkbox').check()
    await page.locator('.toast').getByText('1 file deleted').waitFor()
    await toolbar(page).getByText('1 selected').waitFor()
  })

  test('an action for many counts and changes those that it can be done to, and no others', async () => {
    const refused = await startSource(({ response }) => void response.writeHead(404).end())
    const tasks = [
      await bench.wharf.startExport(body({ file_name: 'mixed-1' })),
      await bench.wharf.startExport(body({ file_name: 'mixed-2' })),
      await bench.wharf.startExport({ source_url: refused, file_name: 'mixed-3', fresh: true }),
    ]
    await ended(tasks)
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports?search=mixed-' })
    await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).check()
    await toolbar(page).getByText('3 selected').waitFor()
    await toolbar(page).getByRole('button', { name: 'Delete files (2)' }).click()
    await page.getByText(/^Deleting the files of 2 exports in/).waitFor()
    const bar = page.locator('.bulk-bar[data-phase="done"]')
    await expect.poll(() => bar.textContent()).toBe('2 files deleted')
  })

  test('what was begun for many is carried out when its page is left before it cannot be undone', async () => {
    const tasks = await Promise.all(
      [1, 2].map((n) => bench.wharf.startExport(body({ file_name: `left-${n}` }))),
    )
    await ended(tasks)
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports?search=left-' })
    await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).check()
    await toolbar(page).getByRole('button', { name: 'Delete files' }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await page.getByRole('link', { name: 'Processing' }).click()
    await page.locator('.toast').getByText('2 files deleted').waitFor()
    for (const task of tasks) expect((await view(task)).download_url).toBeNull()
  })

  test('a number of the overview is that of the rows that it leads to, also after a retry', async () => {
    let fails = true
    const source = await startSource(({ response }) =>
      fails ? void response.writeHead(404).end() : { total: 1, data: [{ a: 1 }] },
    )
    const tasks = await Promise.all(
      [1, 2, 3].map((n) => bench.wharf.startExport({ source_url: `${source}/again/${n}`, fresh: true })),
    )
    await ended(tasks)
    fails = false
    await fetch(`${bench.wharf.address}/api/exports/${tasks[0]}/retry`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.wharf.demoKey}` },
    })
    await until('it is done', async () => (await view(tasks[0] as string)).status === 'succeeded')
    const answer = await fetch(`${bench.wharf.address}/api/exports?status=failed&limit=200`, {
      headers: { authorization: `Bearer ${bench.wharf.adminToken}` },
    })
    const { length } = ((await answer.json()) as { items: unknown[] }).items
    const page = await bench.visit({ key: bench.wharf.adminToken, path: '/overview' })
    const number = page.locator('a[href="/exports?status=failed&ended=1h"]')
    await expect.poll(() => number.textContent()).toBe(String(length))
    await number.click()
    await page.getByText(`${length} exports`, { exact: true }).waitFor()
    await expect.poll(() => page.locator('[data-row]').count()).toBe(length)
    await page.getByTitle('Finished: Last hour').waitFor()
  })
})
