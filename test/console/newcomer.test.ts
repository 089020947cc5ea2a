import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readWorkbooks } from '../exports/xlsx/foreign-reader.ts'
import { describeConsole, signIn } from '../support/console.ts'

describeConsole('a newcomer', (bench) => {
  test('gets from the printed key to an opened Excel file', async () => {
    const page = await bench.visit()
    await page.getByRole('heading', { name: 'Sign in to Wharf' }).waitFor()
    await bench.shoot(page, 'sign-in')
    await signIn(page, bench.wharf.demoKey)
    await page.getByRole('button', { name: 'Make one from the sample' }).click()
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('cell', { name: '客户 Customer' }).waitFor()
    await bench.shoot(page, 'preview')
    await page.getByRole('button', { name: 'Start export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('orders.xlsx')
    const path = join(bench.wharf.dataDir, 'fetched.xlsx')
    await file.saveAs(path)
    const sheet = (await readWorkbooks([path]))[0]?.[0]
    expect(sheet?.cells.A1?.value).toBe('Orders')
    expect(sheet?.merges).toContain('B3:C3')
    expect(sheet?.rows).toBeGreaterThan(1_000)
    await page.getByRole('cell', { name: '127.0.0.1' }).waitFor()
    await bench.shoot(page, 'detail')
  })

  test('is told in words, with a code, that a key is not good', async () => {
    const page = await bench.visit()
    await page.locator('input[type="password"]').fill('wharf_nonsense')
    await page.locator('button[type="submit"]').click()
    await page
      .getByText('This key is not valid, or your session has ended. Sign in with a valid key.')
      .waitFor()
    await page.getByText('UNAUTHENTICATED').waitFor()
  })

  test('is signed in for the whole browser, by a cookie that no script sees, until signing out', async () => {
    const page = await bench.visit({ key: bench.wharf.demoKey })
    await page.reload()
    await page.locator('[data-link="live"]').waitFor()
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: 'wharf_session', httpOnly: true, sameSite: 'Strict' })
    for (const secret of [bench.wharf.demoKey, cookie?.value ?? ''])
      expect(await page.evaluate(kept)).not.toContain(secret)
    const other = await page.context().newPage()
    await other.goto(`${bench.wharf.address}/exports/new`)
    await other.locator('#source_url').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Wharf' }).waitFor()
    // The other tab does not go on in the name of somebody who has left.
    await other.getByRole('heading', { name: 'Sign in to Wharf' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
  })

  test('who is signed in stays so while the server is away', async () => {
    const page = await bench.visit({ key: bench.wharf.demoKey })
    await page.locator('[data-row]').first().waitFor()
    await bench.wharf.kill()
    await page.locator('[data-link="offline"]').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('(OFFLINE)').waitFor()
    await bench.wharf.start()
    await page.locator('[data-link="live"]').waitFor()
    await page.reload()
    await page.locator('[data-link="live"]').waitFor()
  })
})
