import { afterAll, expect, test } from 'vitest'
import { describeConsole, seriousFaults } from '../support/console.ts'
import { OidcIssuer } from '../support/oidc-issuer.ts'

const issuer = await OidcIssuer.start({ page: true })
afterAll(() => issuer.stop())

describeConsole(
  'people',
  (bench) => {
    const projectOf = async (key: string): Promise<string> => {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(`${bench.wharf.address}/api/session`, { headers })
      return ((await answer.json()) as { project_id: string }).project_id
    }

    test.each([
      { locale: 'en-US', go: 'Sign in with your organisation', download: 'Download', out: 'Sign out' },
      { locale: 'zh-CN', go: '使用企业账号登录', download: '下载', out: '退出登录' },
    ])('sign in with their organisation, in $locale; what they fetch has their name', async (words) => {
      bench.elsewhere.add(issuer.url)
      issuer.allow(bench.wharf.address)
      const project = await projectOf(bench.wharf.demoKey)
      issuer.account = { sub: 'lin', name: '林 Lin', wharf_roles: [`operator:${project}`] }
      const page = await bench.visit({ locale: words.locale, path: '/exports/new?sample' })
      await page.getByText(words.go).waitFor()
      expect(await seriousFaults(page)).toEqual([])
      await bench.shoot(page, `sign-in-oidc-${words.locale}`)
      await page.getByText(words.go).click()
      await page.getByText('Continue').click()
      // Back on the page that was asked for.
      await page.locator('#source_url').waitFor()
      await page.locator('.session-menu-person', { hasText: '林 Lin' }).waitFor()
      await page.locator('.make-actions button[type="submit"]').click()
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: words.download, exact: true }).click()
      await download
      await page.getByRole('cell', { name: '林 Lin', exact: true }).waitFor()
      expect(await seriousFaults(page)).toEqual([])
      await bench.shoot(page, `person-${words.locale}`)
      const second = await page.context().newPage()
      await second.goto(`${bench.wharf.address}/exports`)
      await second.getByRole('cell', { name: '林 Lin' }).first().waitFor()
      await page.getByRole('button', { name: words.out }).click()
      await second.getByText(words.go).waitFor()
    })

    test('with several projects choose one; without a role they are told so', async () => {
      bench.elsewhere.add(issuer.url)
      issuer.allow(bench.wharf.address)
      const admin = { authorization: `Bearer ${bench.wharf.adminToken}`, 'content-type': 'application/json' }
      const made = await fetch(`${bench.wharf.address}/api/projects`, {
        method: 'POST',
        headers: admin,
        body: JSON.stringify({ name: 'shop' }),
      })
      expect(made.status).toBe(201)
      const project = await projectOf(bench.wharf.demoKey)
      issuer.account = { sub: 'wu', name: 'Wu', wharf_roles: [`viewer:${project}`, 'operator:shop'] }
      const page = await bench.visit()
      await page.getByText('Sign in with your organisation').click()
      await page.getByText('Continue').click()
      await page.getByRole('combobox', { name: 'Project' }).click()
      await page.locator('.ant-select-item-option', { hasText: 'shop' }).click()
      await page.locator('[data-link="live"]').waitFor()
      await page.locator('.project-choice', { hasText: 'shop' }).waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      issuer.account = { sub: 'eve', name: 'Eve', wharf_roles: [] }
      const other = await bench.visit()
      await other.getByText('Sign in with your organisation').click()
      await other.getByText('Continue').click()
      await other.getByRole('heading', { name: 'You have no role in Wharf' }).waitFor()
      expect(await seriousFaults(other)).toEqual([])
      await bench.shoot(other, 'no-role')
      // A page that says no is what was wanted.
      bench.complaints.length = 0
    })
  },
  issuer.env,
)
