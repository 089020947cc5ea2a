import { expect, test } from 'vitest'
import { describeConsole, seriousFaults } from '../support/console.ts'
import { until } from '../support/until.ts'

describeConsole('administration', (bench) => {
  const ask = async (path: string, key: string, method = 'GET', body?: object) =>
    fetch(`${bench.wharf.address}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })

  test('a colleague gets one key that can only read, which is shown once, however often one clicks', async () => {
    const page = await bench.visit({ key: bench.wharf.adminToken, path: '/admin' })
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Books')
    await page.getByRole('button', { name: 'Create project' }).dblclick()
    await page.getByText('it is shown only this once').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'Books' }).click()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Anna')
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Create key' }).dblclick()
    const key = (await page.locator('.admin-secrets code').textContent()) ?? ''
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row', { name: /Anna/ }).getByText('read').waitFor()
    const who = (await (await ask('/api/session', key)).json()) as { project_id: string; scopes: string[] }
    expect(who.scopes).toEqual(['read'])
    const refused = await ask('/api/exports', key, 'POST', {
      source_url: `${bench.wharf.address}/samples/orders`,
    })
    expect(refused.status).toBe(403)

    // Anna is offered nothing that she would be refused, and told why.
    const hers = await bench.visit({ key, path: '/exports/new' })
    await hers.getByText('Your key cannot do this').waitFor()
    for (const path of ['/exports', '/saved/exports', '/transfers', '/processing']) {
      await hers.goto(`${bench.wharf.address}${path}`)
      await hers.getByText('Read only', { exact: true }).waitFor()
      await hers.locator('main h1').waitFor()
      const buttons = hers.getByRole('button', { name: /New export|New delivery|Choose files|sample/ })
      await expect.poll(() => buttons.count(), { message: path }).toBe(0)
    }
    await hers.close()

    await page.getByRole('spinbutton', { name: /Rows per day/ }).fill('500')
    await page.getByRole('spinbutton', { name: /Rows per day/ }).press('Enter')
    await until('the limit is known', async () => {
      const details = await ask(`/api/projects/${who.project_id}`, bench.wharf.adminToken)
      const { quotas } = (await details.json()) as { quotas: { quota: string; limit: number }[] }
      return quotas.some(({ quota, limit }) => quota === 'rows_per_day' && limit === 500)
    })
    await page.getByRole('button', { name: 'End key: Anna' }).click()
    await page.locator('.ant-popconfirm').getByRole('button', { name: 'End key' }).click()
    await until('the key has ended', async () => (await ask('/api/session', key)).status === 401)
  })

  test('a callback that failed is sent again, and the audit log says who did what', async () => {
    const task = await bench.wharf.startExport({
      source_url: `${bench.wharf.address}/samples/orders?rows=3`,
      callback: `${bench.wharf.address}/nowhere`,
    })
    const attempts = async () => {
      const answer = await ask(`/api/exports/${task}/deliveries`, bench.wharf.demoKey)
      return ((await answer.json()) as { items: unknown[] }).items.length
    }
    await until('it failed once', attempts)
    const page = await bench.visit({
      key: bench.wharf.adminToken,
      path: '/admin/webhooks?show=failed',
      locale: 'zh-CN',
    })
    await page
      .getByRole('button', { name: /^查看内容/ })
      .first()
      .click()
    await page.getByText('"export.succeeded"').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('button', { name: '完成', exact: true }).click()
    const before = await attempts()
    await page
      .getByRole('button', { name: /^重新发送/ })
      .first()
      .click()
    await until('it is sent again', async () => (await attempts()) > before)
    for (const part of ['people', 'connections', 'agents', 'audit', 'settings']) {
      await page.goto(`${bench.wharf.address}/admin/${part}`)
      await page.locator('.panel').first().waitFor()
      expect(await seriousFaults(page), part).toEqual([])
    }
    await page.goto(`${bench.wharf.address}/admin/audit?action=session.started`)
    await page.getByRole('cell', { name: 'session.started' }).first().waitFor()
  })
})
