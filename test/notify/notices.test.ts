import { describe, expect, test } from 'vitest'
import type { Delivery } from '../../src/notify/delivery-log.ts'
import { noticeOf } from '../../src/notify/notice-text.ts'
import { availableBackends } from '../support/backends.ts'
import { problemOf, startExports } from '../support/export-client.ts'
import { FastClock } from '../support/fast-clock.ts'
import { MailServer, partsOf } from '../support/mail-server.ts'
import { startSource } from '../support/source-server.ts'
import { until } from '../support/until.ts'

const PUBLIC = 'https://wharf.example.com'

async function setup(options: { name?: Parameters<typeof startExports>[0]; fast?: boolean } = {}) {
  const mail = await MailServer.start()
  const started = await startExports(options.name ?? 'embedded', {
    env: {
      SMTP_URL: mail.url,
      WHARF_PUBLIC_URL: PUBLIC,
      WHARF_ALLOW_HOSTS: '127.0.0.1',
      ...(options.fast && { WHARF_LEASE_SECONDS: '3600' }),
    },
    ...(options.fast && { clock: new FastClock(200) }),
  })
  const deliveries = (taskId: string) => started.client.items<Delivery>(taskId, 'deliveries')
  return { ...started, mail, deliveries }
}

describe.each(availableBackends())('on %s', (name) => {
  test('each recipient gets a mail of their own, in both languages, with a link that works and no attachment', async () => {
    const { client, business, mail, deliveries, address } = await setup({ name })
    const source_url = business.source({ total: 3 }).url
    const notify = { email: ['anna@example.com', 'bob@example.com'] }
    const { task_id } = await client.run({ source_url, file_name: 'Orders <b> 订单', notify })
    const first = await mail.mailTo('anna@example.com')
    expect((await mail.mailTo('bob@example.com')).to).toEqual(['bob@example.com'])
    expect(first).toMatchObject({ to: ['anna@example.com'], from: 'wharf@wharf.example.com' })
    expect(first.raw).not.toMatch(/Content-Disposition: attachment|bob@/i)
    const { subject, text, html } = partsOf(first)
    expect(subject).toContain('订单')
    for (const words of ['is ready', 'Rows: 3', '已生成', '行数: 3']) expect(text).toContain(words)
    expect(html).toContain('lang="zh"')
    expect(html).not.toContain('<b> 订单')
    const link = /Download: (\S+)/.exec(text)?.[1] ?? ''
    expect(link).toMatch(new RegExp(`^${PUBLIC}/api/exports/${task_id}/file\\?ticket=`))
    const file = await fetch(link.replace(PUBLIC, address))
    expect([file.status, (await file.text()).length > 0]).toEqual([200, true])
    const { expires_at } = await client.task(task_id)
    const told = (locale: string) =>
      new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(
        Date.parse(expires_at ?? ''),
      )
    for (const part of [text, html]) {
      expect(part).toContain(`The link works until ${told('en-GB')} (UTC)`)
      expect(part).toContain(`链接有效期至 ${told('zh-CN')} (UTC)`)
    }
    const noted = await until('both are noted', async () => {
      const found = await deliveries(task_id)
      return found.length === 2 && found
    })
    expect(noted.map(({ channel, url, delivered }) => [channel, url, delivered]).sort()).toEqual([
      ['email', 'mailto:anna@example.com', true],
      ['email', 'mailto:bob@example.com', true],
    ])
    expect((await client.task(task_id)).stage).toBe('done')
  })
})

test('a message says what the file warns of, its title, and times by the clock of the export', async () => {
  const { client, business, mail } = await setup()
  const { url } = business.source({ total: 3, row: () => ({ n: 'no number' }) })
  const notify = { email: ['anna@example.com'] }
  const template = ['n', 'm', 'o', 'p', 'q', 'r', 's'].map((title) => ({ name: 'n', title, type: 'number' }))
  await client.run({
    source_url: url,
    type: 'excel',
    title: 'Monthly <orders>',
    file_name: 'orders',
    timezone: 'Asia/Shanghai',
    template,
    notify,
  })
  const { text, html, subject } = partsOf(await mail.mailTo('anna@example.com'))
  expect(subject).toContain('Monthly <orders> (orders.xlsx) is ready, with 7 warnings / 已生成，有 7 条警告')
  expect(text.match(/^Warning: .*3 values/gm)).toHaveLength(5)
  expect(text).toContain('Warning: and 2 more warnings')
  expect(text.match(/^警告: /gm)).toHaveLength(6)
  expect(text.match(/^警告: 列“n \(\w\)”：3 个值不是“数字”类型$/gm)).toHaveLength(5)
  expect(text).toMatch(/The link works until \d+ \w+ \d{4} at \d\d:\d\d \(Asia\/Shanghai\)/)
  expect(text).toMatch(/链接有效期至 \d{4}年\d+月\d+日 \d\d:\d\d \(Asia\/Shanghai\)/)
  expect(html).toContain('<b>Monthly &lt;orders&gt; (orders.xlsx)</b>')
  expect(html).not.toContain('<orders>')
})

test('a message says how often its link can be used', () => {
  const task = {
    ...{ status: 'succeeded', succeeded: true, name: 'a.csv', title: null, rows: 1, bytes: 1, taskId: 't' },
    ...{ link: 'https://x/f', linkUntil: 0, timezone: 'UTC', warnings: [], error: null },
  }
  const often = noticeOf({ ...task, linkUses: null })
  const thrice = noticeOf({ ...task, linkUses: 3 })
  for (const part of ['text', 'html'] as const) {
    expect(often[part]).not.toMatch(/downloads|可下载/)
    expect(thrice[part]).toMatch(/The link works until [^<\n]* \(UTC\), for 3 downloads in all/)
    expect(thrice[part]).toContain('(UTC)，共可下载 3 次')
  }
})

test('a failed export tells so with its reason, in the language that was asked for', async () => {
  const { client, business, mail } = await setup()
  const broken = business.source({
    total: 1,
    instead: (_, response) => Boolean(response.writeHead(400).end('no')),
  })
  const notify = { email: ['anna@example.com'], language: 'zh' }
  const { task_id } = await client.start({ source_url: broken.url, notify })
  await client.ended(task_id)
  const { text, subject } = partsOf(await mail.mailTo('anna@example.com'))
  expect(subject).toContain('生成失败')
  expect(text).toMatch(/原因: 数据源返回了错误。.* 400.*\(SOURCE_STATUS\)/)
  expect(text).not.toMatch(/could not be made|ticket=/)
})

test('a mail server that is busy costs nothing: the mail is sent when it takes it', async () => {
  const { client, business, mail, deliveries, ledger } = await setup({ fast: true })
  mail.answer = () => (mail.tries < 4 ? { code: 451, message: 'try again later' } : null)
  const { task_id } = await client.run({
    source_url: business.source({ total: 1 }).url,
    notify: { email: ['anna@example.com'] },
  })
  await mail.mailTo('anna@example.com')
  const tries = await until('it is delivered', async () => {
    const found = await deliveries(task_id)
    return found.at(-1)?.delivered && found
  })
  expect(tries.length).toBe(4)
  const job = await ledger.db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', 'notice')
    .executeTakeFirstOrThrow()
  expect([job.state, job.attempts]).toEqual(['succeeded', 1])
  expect(tries[0]).toMatchObject({ delivered: false, error: expect.stringContaining('try again later') })
})

test('an address that the mail server refuses for good is not tried again, and others get theirs', async () => {
  const { client, business, mail, deliveries } = await setup({ fast: true })
  mail.answer = (to) => (to === 'nobody@example.com' ? { code: 550, message: 'no such user' } : null)
  const { task_id } = await client.run({
    source_url: business.source({ total: 1 }).url,
    notify: { email: ['nobody@example.com', 'anna@example.com'] },
  })
  await mail.mailTo('anna@example.com')
  const told = await until('both are noted', async () => {
    const found = await deliveries(task_id)
    return found.length >= 2 && found
  })
  expect(told.find(({ url }) => url.includes('nobody'))).toMatchObject({
    delivered: false,
    status: 550,
    error: expect.stringContaining('no such user'),
  })
  expect((await client.task(task_id)).status).toBe('succeeded')
  expect(mail.tries).toBe(2)
})

test('each chat gets the text in its own form, its answer is read, and its address is shown nowhere', async () => {
  const { client, deliveries, ledger, business } = await setup({ fast: true })
  const got: Record<string, object[]> = {}
  const url = await startSource(async ({ request, response }) => {
    const chat = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1)
    let text = ''
    for await (const chunk of request) text += chunk
    got[chat] = [...(got[chat] ?? []), JSON.parse(text) as object]
    const busy = got[chat].length === 1
    const answers: Record<string, object | string> = {
      slack: 'ok',
      feishu: busy ? { code: 11232, msg: 'frequency limited' } : { code: 0, msg: 'success' },
      dingtalk: busy ? { errcode: 130101, errmsg: 'send too fast' } : { errcode: 0, errmsg: 'ok' },
      wecom: busy ? { errcode: 45009, errmsg: 'api freq out of limit' } : { errcode: 0, errmsg: 'ok' },
    }
    const answer = answers[chat]
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  const kinds = ['slack', 'feishu', 'dingtalk', 'wecom']
  const chat = kinds.map((kind) => ({ kind, url: `${new URL(url).origin}/${kind}?key=token-of-${kind}` }))
  const { task_id } = await client.run({
    source_url: business.source({ total: 2 }).url,
    file_name: 'a & b <c>',
    notify: { chat, language: 'en' },
  })
  const told = await until('all four have taken it', async () => {
    const found = await deliveries(task_id)
    return found.filter(({ delivered }) => delivered).length === 4 && found
  })
  expect(
    told
      .filter(({ delivered }) => !delivered)
      .map(({ channel }) => channel)
      .sort(),
  ).toEqual(['dingtalk', 'feishu', 'wecom'])
  const last = (kind: string) => got[kind]?.at(-1)
  expect(last('slack')).toEqual({
    text: expect.stringMatching(/^Wharf: a &amp; b .*is ready\nRows: 2\n[\s\S]*ticket=/),
  })
  expect(last('feishu')).toEqual({ msg_type: 'text', content: { text: expect.stringContaining('Rows: 2') } })
  for (const kind of ['dingtalk', 'wecom'])
    expect(last(kind)).toEqual({ msgtype: 'text', text: { content: expect.stringContaining('Rows: 2') } })
  const rows = [
    ...(await ledger.db.selectFrom('jobs').selectAll().execute()),
    ...(await ledger.db.selectFrom('tasks').selectAll().execute()),
    ...(await ledger.db.selectFrom('deliveries').selectAll().execute()),
  ]
  expect(JSON.stringify([rows, told])).not.toContain('token-of')
})

test('a wish that cannot be granted is refused with the request', async () => {
  const { client, business } = await setup()
  const source_url = business.source({ total: 1 }).url
  const wrong: [notify: object, status: number, detail: RegExp][] = [
    [{ email: ['anna'] }, 400, /notify\.email\[0\] is no e-mail address/],
    [{ email: ['a@b.example, c@d.example'] }, 400, /is no e-mail address/],
    [{ email: ['a@b.example\r\nBcc: c@d.example'] }, 400, /is no e-mail address/],
    [{ chat: [{ kind: 'irc', url: 'https://chat.example.com' }] }, 400, /kind/],
    [{ chat: [{ kind: 'slack', url: 'http://10.0.0.1/hook' }] }, 422, /notify\.chat\[0\]\.url/],
    [{ language: 'fr' }, 400, /language/],
  ]
  for (const [notify, status, detail] of wrong) {
    const problem = await problemOf(client.post({ source_url, notify }))
    expect([problem.status, problem.detail]).toEqual([status, expect.stringMatching(detail)])
  }
  const bare = await startExports()
  const asked = { source_url: bare.business.source({ total: 1 }).url, notify: { email: ['a@b.example'] } }
  expect(await problemOf(bare.client.post(asked))).toMatchObject({
    status: 422,
    code: 'NOTIFY_NOT_SET_UP',
    detail: expect.stringContaining('SMTP_URL'),
  })
  const chat = [{ kind: 'slack', url: 'https://hooks.slack.com/services/x' }]
  const problem = await problemOf(bare.client.post({ ...asked, notify: { chat } }))
  expect([problem.code, problem.detail]).toEqual([
    'NOTIFY_NOT_SET_UP',
    expect.stringContaining('WHARF_PUBLIC_URL'),
  ])
})
