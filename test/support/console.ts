import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { CHROMIUM, launchChromium } from './chromium.ts'
import { ConsoleWharf } from './console-wharf.ts'
import { LIMIT_MS, until } from './until.ts'

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const ARTIFACTS = fileURLToPath(new URL('../../artifacts/console/', import.meta.url))

export interface VisitOptions extends BrowserContextOptions {
  /** Is signed in with this before the first page, without the form for it. */
  key?: string
  /** Where to begin. */
  path?: string
  /** Sets up answers that no server of a test can give. */
  prepare?(page: Page): Promise<void>
}

/** One Wharf and one browser for the tests of a file. Whatever a page complains about fails the test. */
export class ConsoleBench {
  wharf!: ConsoleWharf
  browser!: Browser
  /** Console errors, violations of the policy, requests to elsewhere, files that are missing. */
  readonly complaints: string[] = []
  /** Origins besides the Wharf's own that pages may be led to. */
  readonly elsewhere = new Set<string>()

  async visit({ key, path = '/', prepare, ...options }: VisitOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 860 },
      locale: 'en-US',
      colorScheme: 'light',
      ...options,
    })
    context.setDefaultTimeout(LIMIT_MS)
    const { address } = this.wharf
    if (key !== undefined) {
      const asked = { data: { key }, headers: { origin: address }, timeout: LIMIT_MS }
      expect((await context.request.post(`${address}/api/session`, asked)).status()).toBe(200)
    }
    const page = await context.newPage()
    this.#listen(page)
    await prepare?.(page)
    await page.goto(`${address}${path}`)
    if (key !== undefined) await untilLive(page)
    return page
  }

  async shoot(page: Page, name: string): Promise<void> {
    mkdirSync(ARTIFACTS, { recursive: true })
    await page.screenshot({ path: `${ARTIFACTS}${name}.png` })
  }

  #listen(page: Page): void {
    page.on('console', (message) => {
      // The browser's own note of an answer that is an error; tests ask for some, and the way to a killed server is gone.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return
      this.complaints.push(message.text())
    })
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (
        protocol !== 'data:' &&
        protocol !== 'blob:' &&
        origin !== this.wharf.address &&
        !this.elsewhere.has(origin)
      )
        this.complaints.push(`asked elsewhere: ${request.url()}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400 && !new URL(response.url()).pathname.startsWith('/api/'))
        this.complaints.push(`${response.status()} ${response.url()}`)
    })
  }
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.locator('input[type="password"]').fill(key)
  await page.locator('button[type="submit"]').click()
  await untilLive(page)
}

async function untilLive(page: Page): Promise<void> {
  await page.locator('[data-link="live"]').waitFor()
}

/** While a button fades from one state to another, or a dialog comes in, its colours are those of neither. Spinners never rest. */
const AT_REST = `document.getAnimations().every((one) => one.playState !== 'running' || one.effect?.getTiming().iterations === Infinity)`

/** What axe-core finds moderate or worse, in words that lead to it, once nothing on the page moves. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await until('nothing on the page moves', () => page.evaluate<boolean>(AT_REST))
  // To send it and to compile it costs more than a run of it.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE)
  const violations = await page.evaluate(async () => {
    const { axe, document } = globalThis as unknown as {
      axe: typeof import('axe-core')
      document: { querySelector(selector: string): { closest(selector: string): unknown } | null }
    }
    const { violations } = await axe.run({ resultTypes: ['violations'] })
    // The preview shows a file in the colours that its template asks for: those are not the console's to choose.
    const isOurs = (id: string, target: unknown) =>
      id !== 'color-contrast' || !document.querySelector(String(target))?.closest('.sheet td')
    return violations
      .map(({ nodes, ...violation }) => ({
        ...violation,
        nodes: nodes.filter(({ target }) => isOurs(violation.id, target)),
      }))
      .filter(({ nodes }) => nodes.length > 0)
      .map(({ id, impact, nodes }) => ({
        impact,
        text: `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
      }))
  })
  return violations.filter(({ impact }) => impact !== 'minor').map(({ text }) => text)
}

/** How far the page reaches beyond its window; 0 is as it must be. */
export function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
}

/** A suite in a real Chromium; skipped, with a line that says so, where none can be had. */
export function describeConsole(
  name: string,
  suite: (bench: ConsoleBench) => void,
  env: Record<string, string> = {},
): void {
  if (!CHROMIUM)
    console.error(
      `\n!!! SKIPPED: ${name}. Install Chromium (Debian: apt-get install chromium-headless-shell).\n`,
    )
  describe.skipIf(!CHROMIUM)(name, () => {
    const bench = new ConsoleBench()
    beforeAll(async () => {
      bench.wharf = await ConsoleWharf.start(env)
      bench.browser = await launchChromium()
    })
    afterEach(async () => {
      for (const context of bench.browser.contexts()) await context.close()
      expect(bench.complaints.splice(0)).toEqual([])
    })
    afterAll(async () => {
      await bench.browser?.close()
      await bench.wharf?.remove()
    })
    suite(bench)
  })
}
