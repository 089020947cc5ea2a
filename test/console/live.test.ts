import { expect, test } from 'vitest'
import { describeConsole, signIn } from '../support/console.ts'

describeConsole('what a page shows', (bench) => {
  const start = (file_name: string, rows = 5) =>
    bench.wharf.startExport({
      source_url: `${bench.wharf.address}/samples/orders?rows=${rows}`,
      file_name,
      fresh: true,
    })

  test('two tabs agree, whichever of them acts', async () => {
    const one = await bench.visit({ key: bench.wharf.demoKey })
    const two = await bench.visit({ key: bench.wharf.demoKey })
    const task = await start('shared', 2_000_000)
    for (const page of [one, two]) await page.locator(`[data-row="${task}"]`).getByText('Fetching').waitFor()
    await one.locator(`[data-row="${task}"]`).getByRole('button', { name: 'Stop' }).click()
    await one.locator('.ant-popconfirm').getByRole('button', { name: 'Stop' }).click()
    for (const page of [one, two]) await page.locator(`[data-row="${task}"]`).getByText('Cancelled').waitFor()
  })

  test('a killed server shows as offline, and the page heals by itself when it is back', async () => {
    const page = await bench.visit({ key: bench.wharf.demoKey })
    const before = await start('before')
    await page.locator(`[data-row="${before}"]`).getByText('Done').waitFor()
    await bench.wharf.kill()
    await page.getByText('The server cannot be reached').first().waitFor()
    await page.locator(`[data-row="${before}"]`).waitFor()
    await bench.shoot(page, 'offline')
    await bench.wharf.start()
    const during = await start('while-away')
    await page.locator('[data-link="live"]').waitFor()
    await page.getByText('The server cannot be reached').waitFor({ state: 'detached' })
    await page.locator(`[data-row="${during}"]`).getByText('Done').waitFor()
    const after = await start('after')
    await page.locator(`[data-row="${after}"]`).getByText('Done').waitFor()
  })

  test('a page that was not loaded yet is waited for while the server is away, and comes by itself', async () => {
    const page = await bench.visit({ key: bench.wharf.demoKey })
    await bench.wharf.kill()
    await page.locator('[data-link="offline"]').waitFor()
    await page.getByRole('link', { name: 'Transfers' }).click()
    await page.getByText('This goes on by itself as soon as the server answers').waitFor()
    await bench.wharf.start()
    await page.getByRole('heading', { name: 'Transfers' }).waitFor()
    await page.getByText('No deliveries yet').waitFor()
  })

  test('a key that is no longer good leads back to signing in, with the reason', async () => {
    const admin = (method: string, path: string, body?: object) =>
      fetch(`${bench.wharf.address}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${bench.wharf.adminToken}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
    const made = (await (await admin('POST', '/api/projects', { name: 'short-lived' })).json()) as {
      project_id: string
      api_key: string
    }
    const page = await bench.visit({ key: made.api_key })
    expect((await admin('DELETE', `/api/projects/${made.project_id}`)).status).toBe(204)
    await page.getByText('Your session has ended. Sign in again.').waitFor()
    await signIn(page, bench.wharf.demoKey)
  })
})
