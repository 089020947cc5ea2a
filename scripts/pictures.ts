// `npm run pictures`: takes the pictures of README, and of exports in docs/console.md, from a Wharf that it fills and runs for this, and draws the
// workbook of README with LibreOffice. Needs Chromium, LibreOffice and poppler-utils.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { WharfServer } from '../bench/wharf-server.ts'
import { sampleOrders } from '../src/exports/index.ts'
import { launchChromium } from '../test/support/chromium.ts'
import { requireBinary } from '../test/support/find-binary.ts'

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url))
const WIDE = { width: 1500, height: 900 }
const NAMES = ['orders-october', 'customers', 'invoices-2026-10', 'stock-berlin', 'refunds', 'payouts']
const MORE_NAMES = ['price-list', 'shipping-week-45', 'newsletter-recipients', 'monthly-report']
const TYPES = ['excel', 'csv', 'excel', 'jsonl', 'parquet']
const OPERATORS = ['anna', 'lin', 'marek', 'sofia', 'wu']
/** Titles in one language; the sample has two. */
const TEMPLATE = [
  { name: 'id', title: 'Order', align: 'left' },
  {
    title: 'Customer',
    children: [
      { name: 'customer', title: 'Name', align: 'left' },
      { name: 'city', title: 'City' },
    ],
  },
  {
    title: 'Amounts',
    children: [
      {
        title: 'Income',
        children: [
          { name: 'amount', title: 'Amount', type: 'money', align: 'right', totals: 'sum' },
          { name: 'discount', title: 'Discount', type: 'percent', totals: 'avg' },
        ],
      },
      {
        ...{ name: 'balance', title: 'Balance', type: 'money', align: 'right', totals: 'sum' },
        condition_style: [{ condition: '< 0', color: 'red', bold: true }],
      },
    ],
  },
  {
    ...{ name: 'status', title: 'Status' },
    condition_style: [
      { condition: "= 'refunded' or = 'cancelled'", bg_color: 'FFE0E0' },
      { condition: "= 'paid'", color: 'green' },
    ],
  },
  { name: 'created_at', title: 'Created', type: 'datetime' },
  { name: 'delivery', title: 'Delivery', type: 'date' },
]

new Command('npm run pictures --')
  .description('Takes the pictures of README, and those of exports in docs/console.md, anew.')
  .parse()

/** Answers some pages and then keeps the caller waiting; other addresses are not found. */
const source = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const [page = 0, size = 0] = ['page', 'page_size'].map((name) => Number(url.searchParams.get(name)))
  if (!url.pathname.startsWith('/slow/')) return response.writeHead(404).end('no such report')
  if (page >= 31) return
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(sampleOrders(120_000, page, size)))
})
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
const elsewhere = `http://127.0.0.1:${(source.address() as AddressInfo).port}`
const server = await WharfServer.start({ WHARF_LOG_LEVEL: 'warn', WHARF_EXPORT_CONCURRENCY: '4' })
const browser = await launchChromium()
try {
  const { api_key: key } = await server.ask<{ api_key: string }>('POST', '/api/projects', { name: 'reports' })
  await drawWorkbook(key)
  await makeExports(key)
  await takePictures(browser, key)
} finally {
  await browser.close()
  await server.stop()
  source.closeAllConnections()
  source.close()
}

async function drawWorkbook(key: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-pictures-'))
  const answer = await fetch(`${server.address}/api/exports?mode=sync`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ type: 'excel', title: 'Orders, January 2026', template: TEMPLATE, template_from: 'request' },
      source_url: `${server.address}/samples/orders?rows=11`,
      summary: 'All orders of the <b>first day</b>; negative balances in <font color="red">red</font>.',
    }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  const workbook = join(folder, 'workbook.xlsx')
  writeFileSync(workbook, new Uint8Array(await answer.arrayBuffer()))
  const profile = `-env:UserInstallation=file://${folder}/profile`
  const [soffice, pdftoppm] = [requireBinary('soffice'), requireBinary('pdftoppm')]
  if (!soffice || !pdftoppm) throw new Error('needs LibreOffice and pdftoppm')
  execFileSync(soffice, [profile, '--headless', '--convert-to', 'pdf', '--outdir', folder, workbook])
  // The upper part of the page, without what is printed at its edges.
  const area = ['-r', '150', '-x', '60', '-y', '100', '-W', '1640', '-H', '662']
  execFileSync(pdftoppm, ['-png', '-singlefile', ...area, join(folder, 'workbook.pdf'), `${IMAGES}workbook`])
  rmSync(folder, { recursive: true, force: true })
}

async function makeExports(key: string): Promise<void> {
  const start = (body: object) => server.ask<{ task_id: string }>('POST', '/api/exports', body, key)
  const names = [...NAMES, ...MORE_NAMES]
  for (let n = 0; n < 24; n++) {
    const part = Math.floor(n / names.length) + 1
    const { task_id } = await start({
      source_url: `${server.address}/samples/orders?rows=${1_200 + n * 731}`,
      file_name: `${names[n % names.length]}${part > 1 ? `-${part}` : ''}`,
      type: TYPES[n % TYPES.length],
      operator_id: OPERATORS[n % OPERATORS.length],
    })
    await untilState(task_id, key, 'succeeded')
  }
  for (const file_name of ['returns', 'suppliers'])
    await start({ source_url: `${elsewhere}/${file_name}`, file_name, operator_id: 'marek' }).then(
      ({ task_id }) => untilState(task_id, key, 'failed'),
    )
  for (const file_name of ['ledger-2026', 'all-orders', 'audit-q3', 'payroll', 'catalogue', 'claims'])
    await start({
      source_url: `${elsewhere}/slow/${file_name}`,
      file_name,
      type: 'excel',
      operator_id: 'sofia',
    })
}

async function untilState(id: string, key: string, state: string): Promise<void> {
  for (;;) {
    const seen = await server.ask<{ status: string }>('GET', `/api/exports/${id}`, undefined, key)
    if (seen.status === state) return
    await sleep(100)
  }
}

async function takePictures(browser: Browser, key: string): Promise<void> {
  const rows = (page: Page) => page.locator('[data-row]').nth(18).waitFor()
  const fetched = (page: Page) =>
    page
      .getByText(/15,500/)
      .first()
      .waitFor()
  await take('console-exports', '/exports', { viewport: WIDE }, async (page) => {
    await rows(page)
    await fetched(page)
  })
  await take('console-dark', '/exports', { viewport: WIDE, colorScheme: 'dark', locale: 'zh-CN' }, rows)
  await take(
    'console-new',
    '/exports/new?sample',
    { viewport: { width: 1550, height: 1125 } },
    async (page) => {
      await page.locator('.make-actions button[type="button"]').nth(1).click()
      await page.locator('.sheet').waitFor()
    },
  )

  async function take(
    name: string,
    path: string,
    options: BrowserContextOptions,
    ready: (page: Page) => Promise<unknown>,
  ) {
    const context = await browser.newContext({ locale: 'en-US', colorScheme: 'light', ...options })
    const { address } = server
    const asked = { data: { key }, headers: { origin: address } }
    const signedIn = await context.request.post(`${address}/api/session`, asked)
    if (!signedIn.ok()) throw new Error(await signedIn.text())
    const page = await context.newPage()
    await page.goto(`${address}${path}`)
    await page.locator('[data-link="live"]').waitFor()
    await ready(page)
    // Charts and lists come in with a movement.
    await sleep(1_500)
    await page.screenshot({ path: `${IMAGES}${name}.png` })
    await context.close()
    console.log(`docs/images/${name}.png`)
  }
}
