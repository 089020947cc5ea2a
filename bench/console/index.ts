import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { systemClock } from '../../src/kernel/index.ts'
import { migrate } from '../../src/ledger/index.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'
import { launchChromium } from '../../test/support/chromium.ts'
import { fillHistory } from '../../test/support/history.ts'
import { checkBars, printTable } from '../report.ts'
import { WharfServer } from '../wharf-server.ts'
import { ROW_PX, type Scrolled, scrollOn } from './scroll.ts'

export const description =
  'frames of the exports list while it scrolls over 100,000 exports, against an empty page'

const EXPORTS = 100_000
const QUICK_EXPORTS = 2_000
/** Of twenty jobs that the history has, twelve are exports. */
const EXPORTS_PER_JOB = 12 / 20
/** Seven windows a second: a wheel that is kept turning. */
const PX_PER_SECOND = 5_000
const STRETCH_MS = 3_000
/** The pages take turns, so that a busy moment of the machine does not hit only one of them. */
const STRETCHES = 20
const VIEWPORT = { width: 1440, height: 900 }
const LEAST_FRAMES = 0.9

export async function run(args: readonly string[]): Promise<boolean> {
  const exports = args.includes('--quick') ? QUICK_EXPORTS : EXPORTS
  const folder = mkdtempSync(join(tmpdir(), 'wharf-console-'))
  const settings = { WHARF_DATA_DIR: folder, WHARF_LOG_LEVEL: 'warn', WHARF_RATE_LIMIT: '100000/s' }
  try {
    const key = await fill(settings, exports)
    const server = await WharfServer.start(settings)
    const browser = await launchChromium()
    try {
      return report(exports, await measure(browser, server.address, key, exports))
    } finally {
      await browser.close()
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Answers the key of the project whose exports they are. */
async function fill(settings: { WHARF_DATA_DIR: string }, exports: number): Promise<string> {
  const server = await WharfServer.start(settings)
  const project = await server.ask<{ api_key: string; project_id: string }>('POST', '/api/projects', {
    name: 'reports',
  })
  await server.stop()
  const ledger = openSqliteLedger(settings.WHARF_DATA_DIR, systemClock)
  await migrate(ledger)
  await fillHistory(ledger, { to: Math.ceil(exports / EXPORTS_PER_JOB), projects: [project.project_id] })
  await ledger.close()
  return project.api_key
}

interface Measured {
  list: Scrolled[]
  empty: Scrolled[]
}

/** Stretches all over the length of the list, each as fast as a hand scrolls; from one to the next as fast as it goes. */
async function measure(browser: Browser, address: string, key: string, exports: number): Promise<Measured> {
  const list = await openList(browser, address, key)
  const empty = await openEmpty(browser, exports)
  const measured: Measured = { list: [], empty: [] }
  const length = exports * ROW_PX - VIEWPORT.height
  const fits = Math.min(STRETCH_MS, (length / STRETCHES / PX_PER_SECOND) * 1_000)
  for (let stretch = 1; stretch <= STRETCHES; stretch++) {
    const toPx = (length * stretch) / STRETCHES
    const asLong = { pxPerSecond: PX_PER_SECOND, toPx, ms: fits }
    await list.bringToFront()
    await scrollOn(list, '.window-table', {
      pxPerSecond: Number.MAX_SAFE_INTEGER,
      toPx: toPx - (fits / 1_000) * PX_PER_SECOND,
      ms: Number.POSITIVE_INFINITY,
    })
    measured.list.push(await scrollOn(list, '.window-table', asLong))
    await empty.bringToFront()
    await empty.evaluate(`document.querySelector('#area').scrollTop = 0`)
    measured.empty.push(await scrollOn(empty, '#area', asLong))
  }
  return measured
}

async function openList(browser: Browser, address: string, key: string): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT })
  const signedIn = await context.request.post(`${address}/api/session`, {
    data: { key },
    headers: { origin: address },
  })
  if (!signedIn.ok()) throw new Error(`signing in: ${signedIn.status()} ${await signedIn.text()}`)
  const page = await context.newPage()
  await page.goto(`${address}/exports`)
  await page.locator('[data-row]').first().waitFor()
  return page
}

/** Nothing but a block as tall as the list, in an area as large. */
async function openEmpty(browser: Browser, exports: number): Promise<Page> {
  const page = await (await browser.newContext({ viewport: VIEWPORT })).newPage()
  await page.setContent(
    `<div id="area" style="height: 700px; overflow: auto"><div style="height: ${exports * ROW_PX}px"></div></div>`,
  )
  return page
}

function report(exports: number, { list, empty }: Measured): boolean {
  const sum = (of: readonly Scrolled[], what: keyof Scrolled) => of.reduce((all, one) => all + one[what], 0)
  const perSecond = (of: readonly Scrolled[]) => sum(of, 'frames') / (sum(of, 'ms') / 1_000)
  const row = (name: string, of: readonly Scrolled[]) => [
    name,
    sum(of, 'px') / ROW_PX,
    sum(of, 'ms') / 1_000,
    sum(of, 'frames'),
    perSecond(of),
    sum(of, 'waited'),
    sum(of, 'bare'),
    Math.max(...of.map(({ longestMs }) => longestMs)),
  ]
  printTable(
    [
      'page',
      'rows scrolled',
      'seconds',
      'frames',
      'per second',
      'held by the server',
      'with a gap in view',
      'longest ms',
    ],
    [row(`list of ${exports.toLocaleString('en')}`, list), row('empty page', empty)],
  )
  return checkBars([
    {
      what: 'frames of the list, against the empty page',
      value: perSecond(list) / perSecond(empty),
      atLeast: LEAST_FRAMES,
      unit: 'times',
    },
  ])
}
