import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { HeldFeeds } from '../runs/held-feeds.ts'
import { describeConsole } from '../support/console.ts'
import { expectNoFaults } from '../support/console-faults.ts'
import { until } from '../support/until.ts'

const row = (page: Page, handle: string) => page.locator(`[data-row="${handle}"]`)
const press = (page: Page, action: string, handle: string) =>
  page.getByRole('button', { name: `${action}: ${handle}`, exact: true }).click()

describeConsole('the runs page', (bench) => {
  const admin = (method: string, path: string, body?: unknown) =>
    fetch(`${bench.wharf.address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bench.wharf.adminToken}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const open = () => bench.visit({ key: bench.wharf.adminToken, path: '/runs' })
  const put = async (feeds: HeldFeeds) => {
    for (const handle of feeds.handles)
      await admin('PUT', `/api/accounts/${handle}`, { url: feeds.url(handle) })
  }

  test('accounts are pasted by the list, and lines that are wrong are told and stay', async () => {
    const page = await open()
    await page.getByText('No accounts yet').waitFor()
    await page.getByRole('button', { name: 'Paste accounts' }).first().click()
    const text = page.getByLabel('One per line')
    await text.fill('pasted-1 http://127.0.0.1:9/a\npasted-2\npasted-3 http://127.0.0.1:9/c')
    await page.getByText('the address is missing.').waitFor()
    await bench.shoot(page, 'runs-paste')
    await page.getByRole('button', { name: 'Add 2 accounts' }).click()
    await row(page, 'pasted-3').waitFor()
    await until(
      'only the wrong line is left',
      () => text.inputValue(),
      (left) => left === 'pasted-2',
    )
    await text.fill('pasted-2 http://127.0.0.1:9/b')
    await page.getByRole('button', { name: 'Add 1 account' }).click()
    await row(page, 'pasted-2').waitFor()
    await page.locator('dialog').waitFor({ state: 'detached' })
  })

  test('a row locks when its run is accepted, says why, shows its place in line, and unlocks', async () => {
    const feeds = await HeldFeeds.open(['one', 'two', 'three'])
    await put(feeds)
    await admin('PUT', '/api/settings/max_concurrent', { value: 1 })
    const page = await open()
    for (const handle of feeds.handles) {
      await press(page, 'Start', handle)
      await row(page, handle).getByLabel('Locked').waitFor()
    }
    await row(page, 'one').getByText('Running', { exact: true }).waitFor()
    await row(page, 'two').getByText('No. 1 in the queue').waitFor()
    await row(page, 'three').getByText('No. 2 in the queue').waitFor()
    await row(page, 'two').getByLabel('Locked').hover()
    await page
      .getByRole('tooltip', { name: /a run of this account is queued/ })
      .first()
      .waitFor()
    await row(page, 'one').getByRole('button', { name: 'Continue', disabled: true }).waitFor()
    await bench.shoot(page, 'runs')

    const limit = page.getByLabel('Concurrent runs')
    await limit.fill('2')
    await row(page, 'two').getByText('Running', { exact: true }).waitFor()
    await row(page, 'three').getByText('No. 1 in the queue').waitFor()

    await press(page, 'Stop', 'three')
    await row(page, 'three').getByText('Idle', { exact: true }).waitFor()
    await press(page, 'Stop', 'two')
    await page.getByRole('menuitem', { name: "Stop and delete this run's files" }).click()
    await row(page, 'two').getByText('Cancelled', { exact: true }).waitFor()
    feeds.finish('one')
    await row(page, 'one').getByText('Done', { exact: true }).waitFor()
    await row(page, 'one').getByRole('button', { name: 'Continue', disabled: false }).waitFor()
    feeds.fail('two')
    await press(page, 'Continue', 'two')
    await row(page, 'two').getByText('Failed', { exact: true }).waitFor()
    await row(page, 'two').getByText('FEED_FAILED').waitFor()
  })

  test('an account is added, its filters copied to another, and it is deleted; a second tab sees it all', async () => {
    const page = await open()
    const other = await open()
    await page.getByRole('button', { name: 'Add account' }).click()
    await page.getByLabel('Account', { exact: true }).fill('filtered')
    await page.getByLabel('Feed address').fill('nonsense')
    await page.getByLabel('Files per run').fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is not a web address.').waitFor()
    await page.getByLabel('Feed address').fill('http://127.0.0.1:9/feed')
    await page.getByRole('button', { name: 'Save' }).click()
    await row(page, 'filtered').getByText('at most 7').waitFor()
    await row(other, 'filtered').waitFor()

    await press(page, 'More', 'filtered')
    await page.getByRole('menuitem', { name: 'Copy filters' }).click()
    await press(page, 'More', 'pasted-1')
    await page.getByRole('menuitem', { name: 'Paste filters from filtered' }).click()
    await row(page, 'pasted-1').getByText('at most 7').waitFor()
    await row(other, 'pasted-1').getByText('at most 7').waitFor()

    await press(page, 'More', 'filtered')
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click()
    await row(page, 'filtered').waitFor({ state: 'detached' })
    await row(other, 'filtered').waitFor({ state: 'detached' })
  })

  test('a run that somebody else has started is refused in words', async () => {
    const feeds = await HeldFeeds.open(['busy'])
    await put(feeds)
    const page = await open()
    await row(page, 'busy').waitFor()
    // The page has not heard of the run when the button is pressed.
    await page.route('**/api/runs', async (route) => {
      await admin('POST', '/api/runs', { handle: 'busy', kind: 'start' })
      await route.continue()
    })
    await press(page, 'Start', 'busy')
    await page.getByText('RUN_ACTIVE').waitFor()
    await row(page, 'busy').getByLabel('Locked').waitFor()
    feeds.finish('busy')
  })

  test('it has no serious fault, in either language, in the dark and on a phone', async () => {
    const feeds = await HeldFeeds.open(['kim', 'lee'])
    await put(feeds)
    await admin('POST', '/api/runs', { handle: 'kim', kind: 'start' })
    await expectNoFaults(bench, {
      name: 'runs',
      path: '/runs',
      key: bench.wharf.adminToken,
      ready: (page) => row(page, 'kim').locator('.anticon-lock').waitFor(),
    })
    feeds.finish('kim')
  })
})
