import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { Agent } from '../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { bodyOf, startFeed } from '../runs/feed-server.ts'
import { agentOptions } from '../support/agents.ts'
import { silentLog } from '../support/backends.ts'
import { type ConsoleBench, describeConsole, seriousFaults } from '../support/console.ts'
import { consoleWords, type Say } from '../support/console-words.ts'
import { until } from '../support/until.ts'

interface Case {
  bench: ConsoleBench
  page: Page
  say: Say
  /** What a case makes is called so: both languages meet in one installation. */
  name: string
  api(method: string, path: string, body?: object, key?: string): Promise<Response>
  /** What is open now has no fault that matters. */
  sound(state: string): Promise<void>
}

interface Action {
  /** Where the router puts the pages that it is about; the first is where it begins. */
  pages: readonly string[]
  /** Whoever may not see other projects. */
  asProject?: true
  act(given: Case): Promise<void>
}

/** Half of what people ask of their system each. */
const LANGUAGES = {
  en: { locale: 'en-US', colorScheme: 'light', reducedMotion: 'no-preference' },
  zh: { locale: 'zh-CN', colorScheme: 'dark', reducedMotion: 'reduce' },
} as const

/** By its words; an icon before them has a name of its own. */
const button = (within: Page | Locator, name: string) =>
  within.getByRole('button', { name: new RegExp(`(^|\\s)${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) })
const choose = (page: Page, title: string) =>
  page.locator('.ant-select-item-option', { hasText: title }).click()
const confirm = (page: Page) => page.locator('.ant-popconfirm:visible .ant-btn-primary').click()

/** What most people come to a page for. */
const ACTIONS: readonly Action[] = [
  {
    pages: ['/overview'],
    async act({ bench, page, say }) {
      await endedExport(bench, { source_url: `${bench.wharf.address}/nowhere` })
      const link = page.locator('a[href="/exports?status=failed&ended=1h"]').first()
      // The page hears of the failure at any moment, and what it shows may move away under the pointer.
      await until('the link was followed', async () => {
        if (!page.url().includes('/exports?')) await link.click()
        return page.url().includes('/exports?')
      })
      await page.getByRole('heading', { name: say('exports.title') }).waitFor()
      await page
        .locator('[data-row]', { hasText: say('exports.status.failed') })
        .first()
        .waitFor()
    },
  },
  {
    pages: ['/exports'],
    async act({ bench, page, say, name, sound }) {
      await endedExport(bench, { source_url: `${bench.wharf.address}/nowhere`, file_name: name })
      await page.getByLabel(say('exports.filter.search')).fill(name)
      await page.getByText(say('lists.total', { count: 1, shown: '1' }), { exact: true }).waitFor()
      await page.getByRole('combobox', { name: say('lists.filter.period') }).click()
      await sound('periods')
      await choose(page, say('lists.period.days'))
      await page.getByLabel(say('lists.filter.from')).fill('2020-01-01')
      await button(page, say('lists.columns')).click()
      await sound('columns and days')
      await page.keyboard.press('Escape')
      await page.getByLabel(say('lists.select_all')).check()
      await sound('selected')
      await button(page.getByRole('toolbar'), say('lists.bulk.action.retry')).click()
      await page.getByText(say('lists.bulk.done.retry', { done: '1' })).waitFor()
    },
  },
  {
    pages: ['/exports/new', '/exports/:taskId'],
    asProject: true,
    async act({ bench, page, say, sound }) {
      await page.goto(`${bench.wharf.address}/exports/new?sample`)
      await page.locator('.make-actions button[type="submit"]').click()
      await button(page, say('exports.action.download')).waitFor()
      await button(page, say('exports.action.delete_file')).click()
      await sound('question')
      await page.keyboard.press('Escape')
      const first = page.url()
      await button(page, say('make.request.again')).click()
      await until('another export is shown', () => page.url() !== first && page.url().includes('/exports/'))
      await button(page, say('exports.action.download')).waitFor()
    },
  },
  {
    pages: ['/saved/exports', '/saved/exports/:name'],
    asProject: true,
    async act({ bench, page, say, name, api, sound }) {
      const source_url = `${bench.wharf.address}/samples/orders?rows=3`
      await api('PUT', `/api/saved-exports/${name}`, { source_url }, bench.wharf.demoKey)
      await page.reload()
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name }).waitFor()
      await button(page, say('make.saved.delete')).click()
      await sound('question')
      await page.keyboard.press('Escape')
      await button(page, say('make.saved.run')).click()
      await button(page, say('exports.action.download')).waitFor()
    },
  },
  {
    pages: ['/saved/templates', '/saved/templates/:name'],
    asProject: true,
    async act({ bench, page, say, name, api, sound }) {
      const template = [
        {
          title: 'A',
          children: [
            { name: 'a', title: 'One' },
            { name: 'b', title: 'Two' },
          ],
        },
      ]
      await api('PUT', `/api/templates/${name}`, { template }, bench.wharf.demoKey)
      await page.reload()
      await page.getByRole('link', { name, exact: true }).click()
      await page.locator('.builder-name', { hasText: 'Two' }).click()
      await page.getByLabel(say('make.builder.type')).click()
      await sound('types of a column')
      await choose(page, say('make.builder.types.money'))
      await page.locator('.builder-node input[type="checkbox"]').first().check()
      await sound('a column that is ticked')
      await page.getByText('JSON', { exact: true }).click()
      await page.getByText('money').waitFor()
      await sound('JSON')
      await button(page, say('make.template.save')).click()
      await page.getByText(say('make.shelf.stored', { name })).waitFor()
      await page
        .getByText(say('make.shelf.version', { version: 2 }))
        .first()
        .waitFor()
    },
  },
  {
    pages: ['/runs'],
    async act({ bench, page, say, name, api, sound }) {
      const feed = await startFeed([{ id: 'one', body: bodyOf('one', 10) }])
      const handles = [1, 2].map((n) => `${name}-${n}`)
      for (const handle of handles) await api('PUT', `/api/accounts/${handle}`, { url: feed.url })
      await page.goto(`${bench.wharf.address}/runs?search=${name}`)
      await button(
        page,
        say('runs.of_account', { action: say('runs.action.more'), handle: `${name}-1` }),
      ).click()
      await page.getByRole('menuitem').first().waitFor()
      await sound('menu')
      await page.keyboard.press('Escape')
      const row = (n: number) => page.locator(`[data-row="${name}-${n}"]`)
      await row(1).getByRole('checkbox').check()
      await button(page, say('lists.bulk.everything', { count: 2, shown: '2' })).click()
      await page.getByText(say('lists.bulk.selected', { count: 2, shown: '2' })).waitFor()
      await sound('selected')
      await button(page, say('runs.bulk.action.start')).click()
      await page.getByText(say('runs.bulk.done.start', { done: '2' })).waitFor()
      for (const n of [1, 2]) await row(n).getByText(say('runs.state.Done'), { exact: true }).waitFor()
      await button(page, say('common.close')).click()
      await page.getByLabel(say('lists.select_all')).check()
      await button(page, say('runs.bulk.action.delete')).waitFor()
      // Nothing has failed and nothing runs, so there is nothing to retry or to stop.
      const bar = page.getByRole('toolbar')
      for (const action of ['retry', 'stop'])
        await expect.poll(() => button(bar, say(`runs.bulk.action.${action}`)).count()).toBe(0)
      await button(page, say('runs.bulk.action.delete')).click()
      await button(page, say('lists.bulk.undo')).click()
      await row(1).getByRole('checkbox').check()
      await button(page, say('runs.bulk.action.delete')).click()
      await page.getByText(say('runs.bulk.done.delete', { done: '1' })).waitFor()
      await row(1).waitFor({ state: 'detached' })
      await row(2).waitFor()
    },
  },
  {
    pages: ['/runs/:handle'],
    async act({ bench, page, say, name, api, sound }) {
      const handle = `${name}%41`
      const refuses = (_request: unknown, response: { writeHead(code: number): { end(): void } }) => {
        response.writeHead(404).end()
        return true
      }
      const files = ['a', 'b'].map((id) => ({ id, name: `报告 ${id}.txt`, body: bodyOf(id, 400) }))
      const feed = await startFeed([files[0] as (typeof files)[0], { ...files[1], fault: refuses } as never])
      await api('PUT', `/api/accounts/${encodeURIComponent(handle)}`, { url: feed.url })
      await api('POST', '/api/runs', { handle, kind: 'start' })
      await page.goto(`${bench.wharf.address}/runs/${encodeURIComponent(handle)}`)
      await button(page, say('runs.failed.retry')).waitFor()
      await sound('account')
      const download = page.waitForEvent('download')
      await page
        .getByRole('link', { name: /报告 a/ })
        .last()
        .click()
      expect((await download).suggestedFilename()).toBe('报告 a.txt')
      for (const file of feed.files) delete file.fault
      await button(page, say('runs.failed.retry')).click()
      await page.getByText(say('runs.kind.retry')).first().waitFor()
      await page.getByRole('heading', { name: say('runs.failed.title') }).waitFor({ state: 'detached' })
    },
  },
  {
    pages: ['/transfers/new', '/transfers/job', '/transfers'],
    asProject: true,
    async act({ bench, page, say, name, sound }) {
      const root = mkdtempSync(join(tmpdir(), 'wharf-console-agent-'))
      const options = await agentOptions(bench.wharf.address, name, root, {
        adminToken: bench.wharf.adminToken,
      })
      const agent = new Agent({ clock: systemClock, log: silentLog }, { ...options, roots: [root] })
      await agent.start()
      onTestFinished(async () => {
        await agent.stop()
        rmSync(root, { recursive: true, force: true })
      })
      const file = { name: `${name}.bin`, mimeType: 'application/octet-stream', buffer: Buffer.from(name) }
      await page.getByTestId('delivery-file').setInputFiles(file)
      await page.getByText('SHA-256').waitFor()
      await page.getByRole('combobox', { name: say('transfers.new.agents') }).click()
      await page.locator('.ant-select-item-option', { hasText: name }).waitFor()
      await sound('agents')
      await choose(page, name)
      await page.keyboard.press('Escape')
      await page.getByLabel(say('transfers.new.directory')).fill('/nowhere/at/all')
      await button(page, say('transfers.new.send')).click()
      await page.getByText(say('transfers.code.203')).first().waitFor()
      const first = page.url()
      await page.getByRole('button', { name: say('transfers.redeliver.action', { count: 1 }) }).click()
      await page.getByText(say('transfers.redeliver.done', { count: 1 })).waitFor()
      await until('the new delivery is shown', () => page.url() !== first)
      await page.getByText(say('transfers.code.203')).first().waitFor()
      await page.goto(`${bench.wharf.address}/transfers`)
      await page.getByRole('link', { name: file.name, exact: true }).first().click()
      await page.getByRole('heading', { name: file.name }).waitFor()
    },
  },
  {
    pages: ['/processing', '/processing/:taskId'],
    asProject: true,
    async act({ page, say, name, sound }) {
      const file = `${name}.txt`
      const row = () => page.locator('tr', { hasText: file })
      const of = (action: string) =>
        button(page, say('processing.of_file', { action: say(`processing.action.${action}`), file }))
      await page
        .getByTestId('upload-files')
        .setInputFiles({ name: file, mimeType: 'text/plain', buffer: Buffer.from('fail') })
      await row().getByText(say('processing.status.FAILED'), { exact: true }).waitFor()
      await row().getByRole('link', { name: file }).click()
      await page.getByText('no codec').first().waitFor()
      await sound('task')
      const first = page.url()
      await of('retry').click()
      await page.getByText(say('processing.retried')).waitFor()
      await until('the new task is shown', () => page.url() !== first)
      await of('delete').click()
      await sound('question')
      await confirm(page)
      await page.getByText(say('processing.deleted', { file })).waitFor()
      await until('the list is shown', () => new URL(page.url()).pathname === '/processing')
    },
  },
  {
    pages: ['/admin/projects', '/admin/projects/:id'],
    async act({ page, say, name, sound }) {
      await button(page, say('admin.project.new')).click()
      await page.getByLabel(say('admin.project.name')).fill(name)
      await sound('new project')
      await button(page, say('admin.project.create')).click()
      await page.getByText(say('admin.project.made', { name })).waitFor()
      await sound('secrets')
      await button(page, say('admin.secret.done')).click()
      await page.getByRole('link', { name, exact: true }).click()
      await button(page, say('admin.key.new')).click()
      await page.getByRole('dialog').getByLabel(say('admin.key.name'), { exact: true }).fill('Anna')
      await page.getByText(say('admin.key.kind.own')).click()
      await page.getByRole('combobox', { name: say('admin.key.scopes') }).click()
      await sound('scopes')
      await choose(page, 'exports:read')
      await page.keyboard.press('Escape')
      await button(page, say('admin.key.create')).click()
      await page.getByText(say('admin.key.made', { name: 'Anna' })).waitFor()
    },
  },
  {
    pages: ['/admin/people'],
    async act({ bench, page, say, api, sound }) {
      await fetch(`${bench.wharf.address}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: bench.wharf.address },
        body: JSON.stringify({ key: bench.wharf.demoKey }),
      })
      const listed = (await (await api('GET', '/api/sessions')).json()) as {
        items: { session_id: string; by: string }[]
      }
      const other = listed.items.find(({ by }) => by === 'key')?.session_id ?? ''
      await page.reload()
      await button(page, `${say('admin.session.end')}: ${other}`).click()
      await sound('question')
      await confirm(page)
      await page.getByText(say('admin.session.ended'), { exact: true }).waitFor()
      await page.locator(`[data-row="${other}"]`).waitFor({ state: 'detached' })
    },
  },
  {
    pages: ['/admin/connections'],
    async act({ bench, page, say, name, sound }) {
      await button(page, say('admin.connection.new')).click()
      await page.getByLabel(say('admin.connection.name')).fill(name)
      await page.getByRole('combobox', { name: say('admin.connection.driver') }).click()
      await sound('new connection')
      await choose(page, say('admin.connection.kind.sqlite'))
      await page
        .getByLabel(say('admin.connection.url'), { exact: true })
        .fill(join(bench.wharf.dataDir, 'ledger.db'))
      await button(page, say('admin.save')).click()
      await page.getByRole('status').getByText(say('admin.saved'), { exact: true }).waitFor()
      await button(page, `${say('admin.edit')}: ${name}`).click()
      await sound('change')
      await button(page, say('admin.cancel')).click()
      await button(page, `${say('admin.delete')}: ${name}`).click()
      await confirm(page)
      await page.locator(`[data-row="${name}"]`).waitFor({ state: 'detached' })
    },
  },
  {
    pages: ['/admin/agents'],
    async act({ page, say, name, sound }) {
      await button(page, say('admin.agent.enrol')).first().click()
      await page.getByLabel(say('admin.agent.id')).fill(name)
      await sound('enrol')
      await button(page, say('admin.agent.make_token')).click()
      await page.getByText(say('admin.agent.invited', { name })).waitFor()
      await page.getByText(`--id ${name}`).waitFor()
      await sound('token')
    },
  },
  {
    pages: ['/admin/webhooks'],
    async act({ bench, page, say, sound }) {
      const task = await endedExport(bench, {
        source_url: `${bench.wharf.address}/samples/orders?rows=3`,
        callback: `${bench.wharf.address}/nowhere`,
        fresh: true,
      })
      await until('an attempt is listed', async () => {
        await page.reload()
        await page.locator('.panel').first().waitFor()
        return (await page.getByRole('button', { name: new RegExp(`: .* ${task}$`) }).count()) > 0
      })
      const of = (words: string) =>
        page.getByRole('button', { name: new RegExp(`^${words}: .* ${task}$`) }).first()
      await of(say('admin.webhook.body')).click()
      await page.getByText('"export.succeeded"').waitFor()
      await sound('body')
      await button(page, say('admin.secret.done')).click()
      await of(say('admin.webhook.resend')).click()
      await page.getByText(say('admin.webhook.sent')).waitFor()
    },
  },
  {
    pages: ['/admin/audit'],
    async act({ page, say }) {
      await page.getByLabel(say('admin.audit.action'), { exact: true }).fill('session.started')
      await expect.poll(() => new URL(page.url()).searchParams.get('action')).toBe('session.started')
      await page.locator('[data-row]').first().waitFor()
    },
  },
  {
    pages: ['/admin/settings'],
    async act({ page, say, api }) {
      const { max_concurrent } = (await (await api('GET', '/api/state')).json()) as { max_concurrent: number }
      await page.locator('#setting-runs').fill(String(max_concurrent + 1))
      await button(page, say('admin.save')).click()
      await page.getByRole('status').getByText(say('admin.saved'), { exact: true }).waitFor()
    },
  },
]

/** Every page that the router knows; those that only lead on are left out. */
function pagesOfRouter(): string[] {
  const folder = new URL('../../console/src/pages/', import.meta.url)
  const read = (path: string) => readFileSync(new URL(path, folder), 'utf8')
  const modules = [...read('registry.ts').matchAll(/path: '([^']+)'|import\('(\.\/[^']+)'\)/g)]
  const pages: string[] = []
  let place = ''
  for (const [, path, module] of modules) {
    place = path ?? place
    if (module === undefined) continue
    const text = read(module)
    if (!module.endsWith('routes.tsx')) pages.push(place)
    const routes = text.matchAll(/<Route path="([^"]+)"([^>]*)>\s*(<Redirect)?/g)
    for (const [, route = '', , redirect] of routes) if (!redirect) pages.push(route)
    for (const [, name] of text.matchAll(/\{ name: '(\w+)', page: \w+ \}/g)) pages.push(`${place}/${name}`)
  }
  return pages.sort()
}

async function endedExport(bench: ConsoleBench, body: object): Promise<string> {
  const task = await bench.wharf.startExport(body)
  await until('the export has ended', async () => {
    const headers = { authorization: `Bearer ${bench.wharf.demoKey}` }
    const answer = await fetch(`${bench.wharf.address}/api/exports/${task}`, { headers })
    return ((await answer.json()) as { finished_at: string | null }).finished_at
  })
  return task
}

test('every page of the router has its main action here', () => {
  expect(ACTIONS.flatMap(({ pages }) => pages).sort()).toEqual(pagesOfRouter())
})

describeConsole(
  'the main action',
  (bench) => {
    const cases = ACTIONS.flatMap((action) =>
      (['en', 'zh'] as const).map((language) => ({ ...action, language, at: action.pages.join(', ') })),
    )
    test.each(cases)('of $at works ($language)', async ({ pages, asProject, act, language, at }) => {
      const path = pages.find((one) => !one.includes(':'))
      const page = await bench.visit({
        key: asProject ? bench.wharf.demoKey : bench.wharf.adminToken,
        ...LANGUAGES[language],
        viewport: { width: 1440, height: 900 },
        ...(path && { path }),
      })
      await act({
        bench,
        page,
        say: consoleWords(language),
        name: `${pages[0]?.replace(/\W+/g, '-').slice(1)}-${language}`,
        api: (method, path, body, key = bench.wharf.adminToken) =>
          fetch(`${bench.wharf.address}${path}`, {
            method,
            headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
            ...(body && { body: JSON.stringify(body) }),
          }),
        sound: async (state) => expect(await seriousFaults(page), `${at}: ${state}`).toEqual([]),
      })
    })
  },
  {
    COLLECT_WINDOW_SECONDS: '1',
    PROCESSOR_COMMAND: `sh -c "echo no codec >&2; exit 3" {input} {output}`,
    TASK_PROCESSOR_RETRIES: '0',
  },
)
