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

    await page.getByRole('textbox', { name: /Rows per day/ }).fill('500')
    await page.getByRole('textbox', { name: /Rows per day/ }).press('Enter')
    await until('the limit is known', async () => {
      const details = await ask(`/api/projects/${who.project_id}`, bench.wharf.adminToken)
      const { quotas } = (await details.json()) as { quotas: { quota: string; limit: number }[] }
      return quotas.some(({ quota, limit }) => quota === 'rows_per_day' && limit === 500)
    })
    await page.getByRole('button', { name: 'End key: Anna' }).click()
    await page.locator('.ant-popconfirm').getByRole('button', { name: 'End key' }).click()
    await until('the key has ended', async () => (await ask('/api/session', key)).status === 401)
  })

  test('a limit that is emptied is what the installation allows, and what is no number stays as it was typed', async () => {
    const { project_id: id } = (await (await ask('/api/session', bench.wharf.demoKey)).json()) as {
      project_id: string
    }
    const limits = async () => {
      const answer = await ask(`/api/projects/${id}`, bench.wharf.adminToken)
      const { quotas } = (await answer.json()) as { quotas: { quota: string; limit: number | null }[] }
      return new Map(quotas.map(({ quota, limit }) => [quota, limit]))
    }
    const first = await limits()
    const page = await bench.visit({ key: bench.wharf.adminToken, path: `/admin/projects/${id}` })
    for (const [quota, limit] of first) {
      const field = page.locator(`#quota-${quota}`)
      if (limit === null) await expect.poll(() => field.inputValue(), { message: quota }).toBe('')
      await field.fill('1234')
      await field.press('Enter')
      await until(`${quota} is limited`, async () => ((await limits()).get(quota) ?? 0) >= 1_234)
      const save = page.locator('.admin-quota', { has: field }).getByRole('button', { name: 'Save' })
      await expect.poll(() => save.isDisabled()).toBe(true)
      await field.fill('')
      await field.press('Tab')
      await expect.poll(() => field.inputValue(), { message: quota }).toBe('')
      const sent = page.waitForRequest((request) => request.method() === 'PUT')
      await save.click()
      expect((await sent).postDataJSON()).toEqual({ quotas: { [quota]: null } })
      await until(`${quota} is as before`, async () => (await limits()).get(quota) === limit)
      if (limit !== null) await expect.poll(() => field.inputValue(), { message: quota }).not.toBe('')
    }
    const field = page.locator('#quota-rows_per_day')
    const save = page.locator('.admin-quota', { has: field }).getByRole('button', { name: 'Save' })
    for (const wrong of ['-3', '1e3', '1.6', 'abc']) {
      await field.fill(wrong)
      await page.getByText('A whole number, 0 or more').waitFor()
      await field.press('Enter')
      await field.press('Tab')
      await expect.poll(() => field.inputValue()).toBe(wrong)
      await expect.poll(() => save.isDisabled(), { message: wrong }).toBe(true)
    }
    expect(await seriousFaults(page)).toEqual([])
    await field.fill('１2,345')
    await save.click()
    await until('it is what was meant', async () => (await limits()).get('rows_per_day') === 12_345)
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
    await page.getByRole('cell', { name: '登录', exact: true }).first().waitFor()
  })
})
