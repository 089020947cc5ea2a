import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type ConsoleBench, seriousFaults, sidewaysScroll, type VisitOptions } from './console.ts'

interface Look extends Pick<VisitOptions, 'path' | 'key' | 'prepare'> {
  name: string
  ready(page: Page): Promise<void>
}

const PHONE = { width: 390, height: 844 }

/** Looks at one page as everybody may meet it: light and dark, both languages, on a phone. Keeps a picture of each. */
export async function expectNoFaults(bench: ConsoleBench, { name, ready, ...visit }: Look): Promise<void> {
  const looks = [
    { suffix: 'light', locale: 'en-US', colorScheme: 'light' },
    { suffix: 'dark', locale: 'zh-CN', colorScheme: 'dark' },
    { suffix: 'phone', locale: 'en-US', colorScheme: 'light', viewport: PHONE },
  ] as const
  for (const { suffix, ...options } of looks) {
    const page = await bench.visit({ ...visit, ...options })
    await ready(page)
    expect(await seriousFaults(page), `${name} ${suffix}`).toEqual([])
    await expect.poll(() => sidewaysScroll(page), { message: `${name} ${suffix}` }).toBeLessThanOrEqual(0)
    await expect
      .poll(() => page.getByRole('main').textContent(), { message: `${name} has keys in place of words` })
      .not.toMatch(/\b(common|runs|transfers|processing)\.[a-z_]+\b(?!\.)/)
    await bench.shoot(page, `${name}-${suffix}`)
    await page.close()
  }
}
