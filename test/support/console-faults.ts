import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type ConsoleBench, seriousFaults, sidewaysScroll } from './console.ts'

interface Look {
  name: string
  path: string
  key: string
  ready(page: Page): Promise<void>
  /** Sets up answers that no server of a test can give. */
  prepare?(page: Page): Promise<void>
}

const PHONE = { width: 390, height: 844 }

/** Looks at one page as everybody may meet it: light and dark, both languages, on a phone. Keeps a picture of each. */
export async function expectNoFaults(
  bench: ConsoleBench,
  { name, path, key, ready, prepare }: Look,
): Promise<void> {
  const looks = [
    { suffix: 'light', locale: 'en-US', colorScheme: 'light' },
    { suffix: 'dark', locale: 'zh-CN', colorScheme: 'dark' },
    { suffix: 'phone', locale: 'en-US', colorScheme: 'light', viewport: PHONE },
  ] as const
  for (const { suffix, ...options } of looks) {
    const page = await bench.visit({ key, ...options })
    await prepare?.(page)
    await page.goto(`${bench.wharf.address}${path}`)
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
