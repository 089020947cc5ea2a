import { describe, expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { until } from '../../support/until.ts'

const HOUR = 3_600_000
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe.each(availableBackends())('on %s', (backend) => {
  test('a link is good as often as it may be used, however many ask at once', async () => {
    const { business, client } = await startExports(backend)
    const source_url = business.source({ total: 3 }).url
    const view = await client.run({ source_url, link_uses: 3 })
    const link = view.download_url as string
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(200)
    const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(link)))
    const statuses = await Promise.all(
      answers.map(async (answer) => (await answer.arrayBuffer()) && answer.status),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 410)).toHaveLength(7)
    expect(await problemOf(fetch(link))).toMatchObject({ code: 'LINK_USED_UP' })
    const fresh = (await client.task(view.task_id)).download_url as string
    expect(await problemOf(fetch(fresh, { headers: { range: 'bytes=1-' } }))).toMatchObject({
      code: 'LINK_USED_UP',
    })
    expect(await client.lines(view.task_id)).toHaveLength(4)
  })

  test('a file is deleted for good, as often as it is asked, and makes room', async () => {
    const { business, client, ask } = await startExports(backend)
    const { task_id, download_url } = await client.run({ source_url: business.source({ total: 3 }).url })
    const { key, id } = client.project
    const disk = async () => {
      const answer = await ask('GET', `/api/projects/${id}/usage`, { key })
      const { quotas } = (await answer.json()) as { quotas: { quota: string; used: number }[] }
      return quotas.find(({ quota }) => quota === 'disk_bytes')?.used
    }
    expect(await disk()).toBeGreaterThan(0)
    const remove = () => ask('DELETE', `/api/exports/${task_id}/file`, { key })
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204])
    expect(await disk()).toBe(0)
    expect(await problemOf(client.get(task_id, '/file'))).toMatchObject({
      code: 'EXPORT_EXPIRED',
      detail: expect.stringContaining('was deleted at'),
    })
    expect(await client.task(task_id)).toMatchObject({
      status: 'succeeded',
      download_url: null,
      file: { rows: expect.any(Number) },
      file_deleted_at: expect.any(String),
    })
    const page = await fetch(download_url as string, { headers: BROWSER })
    expect([page.status, await page.text()]).toEqual([
      410,
      expect.stringContaining('The file is no longer there'),
    ])
  })
})

test('a link lasts its hours, and then says so in the words of its reader', async () => {
  const clock = new FastClock(1)
  const { business, client } = await startExports('embedded', { clock })
  const source_url = business.source({ total: 3 }).url
  const short = await client.run({ source_url })
  const long = await client.run({ source_url, link_hours: 48 })
  clock.advance(HOUR)
  expect((await fetch(long.download_url as string)).status).toBe(200)
  const url = short.download_url as string
  expect(await problemOf(fetch(url))).toMatchObject({ code: 'LINK_EXPIRED', status: 410 })
  const english = await fetch(url, { headers: BROWSER })
  expect(english.status).toBe(410)
  expect(english.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await english.text()).toContain('<h1>This link has expired</h1>')
  const chinese = await fetch(url, { headers: { ...BROWSER, 'accept-language': 'zh-CN,zh;q=0.9' } })
  expect(chinese.headers.get('content-language')).toBe('zh-CN')
  expect(await chinese.text()).toContain('<h1>链接已过期</h1>')
  const cut = await fetch(url.slice(0, -2), { headers: BROWSER })
  expect([cut.status, await cut.text()]).toEqual([401, expect.stringContaining('This link is not valid')])
  expect(await problemOf(fetch(url.slice(0, -2)))).toMatchObject({ code: 'UNAUTHENTICATED' })
  clock.advance(47 * HOUR)
  expect(await problemOf(fetch(long.download_url as string))).toMatchObject({ code: 'LINK_EXPIRED' })
})

test('a file is kept for the hours that were asked for', async () => {
  const clock = new FastClock(1)
  const { business, client } = await startExports('embedded', { clock, env: { WHARF_EXPORT_TTL_HOURS: '2' } })
  const source_url = business.source({ total: 3 }).url
  const [brief, long] = [
    await client.run({ source_url, keep_hours: 1 }),
    await client.run({ source_url, keep_hours: 10 }),
  ]
  clock.advance(1.5 * HOUR)
  expect(await problemOf(client.get(brief.task_id, '/file'))).toMatchObject({ code: 'EXPORT_EXPIRED' })
  clock.advance(8 * HOUR)
  await until('the brief one is swept', async () => (await client.task(brief.task_id)).download_url === null)
  expect(await client.lines(long.task_id)).toHaveLength(4)
  for (const field of ['keep_hours', 'link_hours', 'link_uses'])
    expect(await problemOf(client.post({ source_url, [field]: 0 }))).toMatchObject({
      code: 'REQUEST_INVALID',
    })
})
