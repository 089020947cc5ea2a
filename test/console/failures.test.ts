import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole } from '../support/console.ts'
import { consoleWords } from '../support/console-words.ts'
import { startSource } from '../support/source-server.ts'
import { until } from '../support/until.ts'

const LANGUAGES = [
  { language: 'en', locale: 'en-US' },
  { language: 'zh', locale: 'zh-CN' },
] as const
/** What a promise of another try looks like in either language. */
const PROMISE = /by itself|tried again|自动/

describeConsole('what the console says of failures', (bench) => {
  const ended = async (body: object) => {
    const task = await bench.wharf.startExport(body)
    const headers = { authorization: `Bearer ${bench.wharf.demoKey}` }
    await until('it has ended', async () => {
      const answer = await fetch(`${bench.wharf.address}/api/exports/${task}`, { headers })
      return ((await answer.json()) as { finished_at: string | null }).finished_at
    })
    return task
  }
  /** The view as the server would answer it. */
  const shows = (task: string, change: object) => async (page: Page) => {
    await page.route(`**/api/exports/${task}`, async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ json: { ...((await answer.json()) as object), ...change } })
    })
    await page.route('**/api/exports?*', async (route) => {
      const answer = await route.fetch()
      const { items, ...rest } = (await answer.json()) as { items: { task_id: string }[] }
      await route.fulfill({
        json: { ...rest, items: items.map((one) => (one.task_id === task ? { ...one, ...change } : one)) },
      })
    })
  }

  test.each(LANGUAGES)('an export that has failed promises no other try ($language)', async (given) => {
    const say = consoleWords(given.language)
    const task = await ended({ source_url: `${bench.wharf.address}/nowhere`, fresh: true })
    const error = { code: 'CONNECTION_LOST', message: 'page 1: the connection was lost' }
    const page = await bench.visit({
      key: bench.wharf.demoKey,
      locale: given.locale,
      path: `/exports/${task}`,
      prepare: shows(task, { error, attempts: 3 }),
    })
    await page.getByText(say('exports.gave_up', { count: 3 })).waitFor()
    await page.getByText(say('exports.gave_up_retry')).waitFor()
    await page.getByRole('button', { name: say('exports.action.retry') }).waitFor()
    await expect.poll(() => page.getByRole('alert').first().textContent()).not.toMatch(PROMISE)
    await page.goto(`${bench.wharf.address}/exports`)
    const row = page.locator(`[data-row="${task}"]`)
    await row.waitFor()
    await expect.poll(() => row.textContent()).not.toMatch(PROMISE)
  })

  /** As the server answers while PostgreSQL is away; open streams stay open. Ends with what is returned. */
  const withoutLedger = async (page: Page) => {
    const isAsked = ({ pathname }: URL) => pathname.startsWith('/api/') && pathname !== '/api/events'
    await page.route(isAsked, (route) =>
      route.fulfill({ status: 503, json: { code: 'LEDGER_UNAVAILABLE', detail: 'away' } }),
    )
    return () => page.unroute(isAsked)
  }

  test.each(LANGUAGES)(
    'a page that is opened while the ledger is away says so, and goes on by itself ($language)',
    async (given) => {
      const say = consoleWords(given.language)
      let goOn = async () => {}
      const page = await bench.visit({
        locale: given.locale,
        prepare: async (page) => {
          goOn = await withoutLedger(page)
        },
      })
      const alert = page.getByRole('alert')
      await alert.getByText('LEDGER_UNAVAILABLE').waitFor()
      await alert.getByText(say('common.goes_on')).waitFor()
      await goOn()
      await page.locator('input[type="password"]').waitFor()
    },
  )

  test.each(LANGUAGES)(
    'the overview says once that the ledger is away, and calls nothing good meanwhile ($language)',
    async (given) => {
      const say = consoleWords(given.language)
      const page = await bench.visit({ key: bench.wharf.adminToken, locale: given.locale, path: '/overview' })
      const good = page
        .locator('.overview-health')
        .getByText(say('overview.health.level.ok'), { exact: true })
      await good.first().waitFor()
      const goOn = await withoutLedger(page)
      await page.getByText(say('overview.health.away')).waitFor()
      await page.locator('[data-link="stale"]').waitFor()
      await expect.poll(() => page.getByRole('alert').count()).toBe(1)
      await expect.poll(() => good.count()).toBe(0)
      await goOn()
      await good.first().waitFor()
      await page.locator('[data-link="live"]').waitFor()
      await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    },
  )

  test.each(LANGUAGES)('the overview says what the longest waits are for ($language)', async (given) => {
    const say = consoleWords(given.language)
    const at = new Date().toISOString()
    const wait = { what: 'store', since: at, code: 'STORAGE_UNAVAILABLE', message: 'm', next_try_at: null }
    const page = await bench.visit({
      key: bench.wharf.adminToken,
      locale: given.locale,
      path: '/overview',
      prepare: async (page) => {
        await page.route('**/api/overview/attention', async (route) => {
          const { domains } = (await (await route.fetch()).json()) as {
            domains: { exports: { waiting: object[] } }
          }
          domains.exports.waiting = [{ id: 'x', name: 'waits.csv', project_id: null, at, waiting_for: wait }]
          await route.fulfill({ json: { domains } })
        })
      },
    })
    const row = page.locator('.overview-noticed li', { hasText: 'waits.csv' })
    await row.getByText(say('exports.waits_for.store')).waitFor()
  })

  test.each(LANGUAGES)('what is wrong with a source is said by its code ($language)', async (given) => {
    const say = consoleWords(given.language)
    const task = await ended({ source_url: `${bench.wharf.address}/nowhere`, fresh: true })
    const wait = { what: 'source', since: new Date().toISOString(), message: 'm', next_try_at: null }
    const change = {
      status: 'processing',
      stage: 'fetching',
      error: null,
      finished_at: null,
      waiting_for: {},
    }
    const page = await bench.visit({
      key: bench.wharf.demoKey,
      locale: given.locale,
      prepare: shows(task, change),
    })
    for (const [code, trouble] of [
      ['HOST_UNRESOLVED', 'host'],
      ['CONNECTION_LOST', 'cut'],
      ['SOURCE_TOO_SLOW', 'silent'],
      ['SOURCE_STATUS', 'status'],
      ['SOURCE_STALLED', 'stalled'],
      ['SOMETHING_NEW', 'other'],
    ]) {
      change.waiting_for = { ...wait, code }
      await page.goto(`${bench.wharf.address}/exports/${task}`)
      const words = say('exports.asks_again', { trouble: say(`exports.source_trouble.${trouble}`) })
      await page.getByText(words, { exact: true }).first().waitFor()
    }
  })

  test.each(LANGUAGES)(
    'a mistake leads to its place in the form, as the form calls it ($language)',
    async (given) => {
      const say = consoleWords(given.language)
      const list = await startSource(() => [{ a: 1 }] as never)
      const closed = await startSource(({ response }) => void response.writeHead(403).end())
      const page = await bench.visit({
        key: bench.wharf.demoKey,
        locale: given.locale,
        path: '/exports/new',
      })
      const hints = {
        [list]: say('make.source_hint.other_api', { tab: say('make.source.kind.http') }),
        [closed]: say('make.source_hint.sign_in', { section: say('make.access.title') }),
      }
      for (const [address, hint] of Object.entries(hints)) {
        await page.locator('#source_url').fill(address)
        await page.locator('.make-actions button[type="button"]').nth(1).click()
        await page.getByText(hint).waitFor()
      }
      const failed = await ended({ source_url: list, fresh: true })
      await page.goto(`${bench.wharf.address}/exports/${failed}`)
      await page.getByText(hints[list] ?? '').waitFor()
    },
  )

  test('every state of an export fits its column, without a part of an ellipsis beside it', async () => {
    const task = await ended({ source_url: `${bench.wharf.address}/samples/orders?rows=3`, fresh: true })
    const change = { status: 'processing', stage: 'fetching', file: null, download_url: null }
    const page = await bench.visit({
      key: bench.wharf.demoKey,
      viewport: { width: 1440, height: 900 },
      prepare: shows(task, change),
    })
    const room = `(() => {
      const pill = document.querySelector('[data-row="${task}"] .pill')
      const cell = pill.closest('td')
      const { paddingRight } = getComputedStyle(cell)
      return cell.getBoundingClientRect().right - parseFloat(paddingRight) - pill.getBoundingClientRect().right
    })()`
    for (const stage of ['fetching', 'building', 'uploading', 'notifying', 'cancelled']) {
      Object.assign(change, stage === 'cancelled' ? { status: stage, stage: 'done' } : { stage })
      await page.goto(`${bench.wharf.address}/exports`)
      await page.locator(`[data-row="${task}"] .pill`).waitFor()
      await expect.poll(() => page.evaluate<number>(room), { message: stage }).toBeGreaterThanOrEqual(0)
    }
  })
})
