import { expect, test } from 'vitest'
import { describeConsole, signIn } from '../support/console.ts'

describeConsole('drafts', (bench) => {
  const api = async (method: string, path: string, { body, key }: { body?: object; key: string }) => {
    const answer = await fetch(`${bench.wharf.address}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await (answer.status === 204 ? null : answer.json())) as Record<string, unknown>
  }

  test('a session that expires loses no draft for the same key, in no tab; another key and a sign-out find none', async () => {
    const admin = { key: bench.wharf.adminToken }
    const { project_id } = await api('GET', '/api/session', { key: bench.wharf.demoKey })
    const made = await api('POST', `/api/projects/${project_id}/keys`, {
      ...admin,
      body: { name: 'Anna', scopes: ['all'] },
    })
    const page = await bench.visit({ key: bench.wharf.demoKey, path: '/exports/new' })
    const name = page.getByLabel('File name')
    const second = await page.context().newPage()
    await second.goto(`${bench.wharf.address}/exports/new`)
    await second.getByLabel('File name').fill('in another tab')
    const endAll = async () => {
      const { items } = (await api('GET', '/api/sessions', admin)) as { items: { session_id: string }[] }
      for (const { session_id } of items) await api('DELETE', `/api/sessions/${session_id}`, admin)
    }
    const expire = async () => {
      await endAll()
      await page.locator('input[type="password"]').waitFor()
    }
    await page.getByLabel('Source address').fill(`${bench.wharf.address}/samples/orders`)
    await name.fill('an hour of work')
    await expire()
    await second.locator('input[type="password"]').waitFor()
    await signIn(page, bench.wharf.demoKey)
    await expect.poll(() => name.inputValue()).toBe('an hour of work')
    await expect.poll(() => second.getByLabel('File name').inputValue()).toBe('in another tab')
    await second.close()

    await expire()
    await signIn(page, String(made.api_key))
    await name.waitFor()
    await expect.poll(() => name.inputValue()).toBe('')
    await name.fill('of Anna')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, String(made.api_key))
    await name.waitFor()
    await expect.poll(() => name.inputValue()).toBe('')
  })

  test('a saved export that was changed in another tab is not overwritten without a word', async () => {
    const key = bench.wharf.demoKey
    const source_url = `${bench.wharf.address}/samples/orders?rows=5`
    const put = (name: string, title: string) =>
      api('PUT', `/api/saved-exports/${name}`, { key, body: { source_url, title, type: 'excel' } })
    const title = async () =>
      ((await api('GET', '/api/saved-exports/shared', { key })) as { request: { title: string } }).request
        .title
    await put('shared', 'first')
    const page = await bench.visit({ key, path: '/exports/new?saved=shared' })
    await page.getByLabel('Title above the table').fill('mine')
    await put('shared', 'theirs')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText(/^It was changed meanwhile/).waitFor()
    expect(await title()).toBe('theirs')
    // A draft that goes on later still began with the first version.
    await page.reload()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: 'Overwrite' }).click()
    await page.getByRole('heading', { name: 'shared', exact: true }).waitFor()
    expect(await title()).toBe('mine')

    await page.getByRole('button', { name: 'Change schedule' }).click()
    await put('shared', 'theirs again')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^It was changed meanwhile/).waitFor()
    expect(await title()).toBe('theirs again')
  })

  test('a run of a saved export is known by its title and its name, and leads back to it', async () => {
    const key = bench.wharf.demoKey
    const source_url = `${bench.wharf.address}/samples/orders?rows=5`
    await api('PUT', '/api/saved-exports/nightly', { key, body: { source_url, title: 'Orders by night' } })
    const run = await api('POST', '/api/saved-exports/nightly/run', { key, body: {} })
    expect(run).toMatchObject({ title: 'Orders by night', saved_export: 'nightly' })
    const page = await bench.visit({ key })
    const row = page.locator(`[data-row="${run.task_id}"]`)
    await row.getByText('nightly').waitFor()
    await row.getByRole('link', { name: 'Orders by night' }).click()
    await page.getByRole('heading', { name: 'Orders by night' }).waitFor()
    await page.getByRole('link', { name: 'nightly' }).click()
    await page.getByRole('heading', { name: 'nightly' }).waitFor()
  })
})
