import { readdirSync, readFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocket, type Server } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ADMIN_TOKEN, asking, newProject } from '../support/http.ts'
import { until } from '../support/until.ts'
import { serveWharf } from '../support/wharf-process.ts'

/** One for each server, with what addresses, JSON, forms and base64 write differently. */
const SECRETS = {
  mail: 'mail/+=&"s3cr3t"?',
  chat: 'chat+s3cr3t&value',
  chatPath: 'hook-s3cr3t-path',
  gse: 'gse/+=&"s3cr3t"?',
  oidc: 'oidc/+=&"s3cr3t"?',
  code: 'code-of-the-s3cr3t-sign-in',
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const decoded = (text: string) =>
  text
    .split(/[\s:]+/)
    .map((word) =>
      Buffer.from(word, 'base64')
        .toString()
        .replace(/[^\x20-\x7e]+/g, ' '),
    )
    .join(' ')

/** Repeats the credentials: every other connection in the answer to AUTH, the rest to RCPT. */
async function startMail() {
  let connections = 0
  const server = createSocket((socket) => {
    const refuses = connections++ % 2 === 0
    let said = ''
    socket.on('error', () => undefined)
    socket.write('220 mail\r\n')
    socket.on('data', (data) => {
      const line = data.toString().trim()
      const [command = ''] = line.toUpperCase().split(' ')
      if (command === 'EHLO') return socket.write('250-mail\r\n250 AUTH PLAIN LOGIN\r\n')
      if (command === 'AUTH') said = `${line} ${decoded(line)}`
      if (command === 'AUTH' && refuses) return socket.write(`535 5.7.8 you said ${said}\r\n`)
      if (command === 'AUTH') return socket.write('235 welcome\r\n')
      if (command === 'RCPT') return socket.write(`550 nobody here, and you said ${said}\r\n`)
      return socket.write('250 fine\r\n')
    })
  })
  return { address: await listen(server), connections: () => connections }
}

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void

async function startHttp(answer: Answer) {
  const calls: string[] = []
  const server = createHttp(async (request, response) => {
    const body = await text(request)
    calls.push(request.url ?? '')
    answer(request, body, response)
  })
  return { origin: `http://${await listen(server)}`, calls }
}

function saidBy({ url, headers }: IncomingMessage, body: string): string {
  const all = Object.values(headers).join(' ')
  const form = decodeURIComponent(body.replaceAll('+', ' ').replace(/%(?![0-9A-F]{2})/gi, ''))
  return [url, decodeURIComponent(url ?? ''), all, decoded(all), body, form].join(' ')
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

test('no credentials that a mail server, a chat, a GSE or an issuer repeats are shown, logged or stored', async () => {
  const mail = await startMail()
  const chat = await startHttp((request, body, response) => {
    const said = saidBy(request, body)
    if (request.url?.startsWith('/refuse')) response.writeHead(400).end(`${'x'.repeat(240)} ${said}`)
    else json(response, { errcode: 1, errmsg: said, code: 1, msg: said, StatusMessage: said })
  })
  let gseCalls = 0
  const gse = await startHttp((request, body, response) => {
    const said = saidBy(request, body)
    const name = request.url?.split('/').at(-1)
    gseCalls += 1
    if (gseCalls === 1) return void response.writeHead(502, { 'x-said': 'no' }).end(said)
    if (gseCalls === 2) return json(response, { code: 0, message: '', data: { result: { task_id: 'one' } } })
    if (name === 'get_transfer_file_result' && gseCalls === 3) {
      const { task_id } = JSON.parse(body) as { task_id: string }
      const content = {
        type: 'download',
        dest_agent_id: 'target',
        dest_container_id: '',
        dest_file_dir: '/opt',
        dest_file_name: 'a.txt',
        status_info: said,
      }
      const row = { error_code: 120, error_msg: said, content: { ...content, task_id, progress: 1 } }
      return json(response, { code: 0, message: said, data: { version: 'v2', result: [row] } })
    }
    return json(response, { code: 1017003, message: said, data: null })
  })
  let tokenCalls = 0
  const issuer = await startHttp((request, body, response) => {
    const { origin } = issuer
    if (request.url?.includes('openid-configuration'))
      return json(response, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        jwks_uri: `${origin}/jwks`,
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      })
    const said = saidBy(request, body)
    const how = tokenCalls++
    if (how === 0) return json(response, { error: 'invalid_client', error_description: said }, 401)
    if (how === 1) return json(response, { error: said, error_description: said, error_uri: said }, 400)
    if (how === 2)
      return void response
        .writeHead(401, { 'www-authenticate': `Basic realm="${said.replace(/[^\x20-\x7e]|["\\]/g, '')}"` })
        .end(said)
    if (how === 3) return void response.writeHead(200, { 'content-type': 'text/plain' }).end(said)
    return json(response, { access_token: said, token_type: said, id_token: said })
  })
  const wharf = await serveWharf({
    WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
    WHARF_LOG_LEVEL: 'debug',
    WHARF_PUBLIC_URL: 'http://127.0.0.1:1',
    WHARF_ALLOW_HOSTS: '127.0.0.1',
    SMTP_URL: `smtp://sender:${encodeURIComponent(SECRETS.mail)}@${mail.address}`,
    OIDC_ISSUER: issuer.origin,
    OIDC_CLIENT_ID: 'wharf',
    OIDC_CLIENT_SECRET: SECRETS.oidc,
    TRANSFER_ENGINE: 'gse',
    COLLECT_WINDOW_SECONDS: '1',
    GSE_ENDPOINT: gse.origin,
    GSE_APP_CODE: 'wharf',
    GSE_APP_SECRET: SECRETS.gse,
    GSE_USERNAME: 'admin',
    GSE_AGENT_ID: 'source',
    GSE_AGENT_USER: 'root',
  })
  const ask = asking(() => wharf.address)
  const seen: [string, string][] = []
  const see = async (where: string, method: string, path: string, more: Parameters<typeof ask>[2]) => {
    const answer = await ask(method, path, more)
    const body = await answer.text()
    seen.push([where, `${JSON.stringify([...answer.headers])} ${body}`])
    return { status: answer.status, body }
  }
  const { key } = await newProject({ ask })

  const put = await see('repository', 'PUT', '/api/repository/a.txt', { key, body: 'bytes' })
  const { signature } = JSON.parse(put.body) as { signature: string }
  const transfer = { biz_id: 1, app_id: 1, file_path: '/', file_name: 'a.txt', file_signature: signature }
  const sent = await see('transfer', 'POST', '/api/transfers', {
    key,
    body: { ...transfer, target_agent_id: 'target', target_user: 'root', target_file_dir: '/opt' },
  })
  const { job_id } = JSON.parse(sent.body) as { job_id: string }

  const hook = (way: string) =>
    `${chat.origin}/${way}/${SECRETS.chatPath}?access_token=${encodeURIComponent(SECRETS.chat)}&key=${encodeURIComponent(SECRETS.chat)}`
  const kinds = ['wecom', 'dingtalk', 'feishu']
  const exported = await see('export', 'POST', '/api/exports', {
    key,
    body: {
      source_url: `${wharf.address}/samples/orders?rows=1`,
      notify: {
        email: ['a@example.com', 'b@example.com'],
        chat: ['refuse', 'complain'].flatMap((way) => kinds.map((kind) => ({ kind, url: hook(way) }))),
      },
    },
  })
  const { task_id } = JSON.parse(exported.body) as { task_id: string }

  for (let how = 0; how <= 4; how++) {
    const login = await ask('GET', '/auth/login', {})
    // `fetch` follows redirects: the way to the issuer is asked for by hand.
    await login.body?.cancel()
    const begun = await fetch(`${wharf.address}/auth/login`, { redirect: 'manual' })
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const cookie = begun.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    for (const accept of ['text/html', 'application/json'].slice(how % 2, (how % 2) + 1))
      await see(
        `sign-in ${how}`,
        'GET',
        `/auth/callback?code=${SECRETS.code}&state=${state}&iss=${encodeURIComponent(issuer.origin)}`,
        { headers: { cookie, accept } },
      )
  }
  await until('the issuer was asked', () => tokenCalls >= 5)
  await until('the mail server refused', () => mail.connections() >= 2)
  await until('the chats refused', () => new Set(chat.calls).size >= 2 && chat.calls.length >= 6)
  const job = await until('the transfer has ended', async () => {
    const { body } = await see('transfer job', 'GET', `/api/transfer-jobs/${encodeURIComponent(job_id)}`, {
      key,
    })
    return /"status":"(Failed|Timeout|Success)"/.test(body) && body
  })
  expect(job).toContain('"Failed"')
  const deliveries = await until('the attempts are recorded', async () => {
    const { body } = await see('deliveries', 'GET', `/api/exports/${task_id}/deliveries`, { key })
    const { items } = JSON.parse(body) as { items: { channel: string; error: string | null }[] }
    const failed = items.filter(({ error }) => error !== null)
    return new Set(failed.map(({ channel }) => channel)).size === 4 && failed
  })
  expect(deliveries.length).toBeGreaterThan(3)
  wharf.child.kill('SIGTERM')
  await wharf.exited
  seen.push(['the log', wharf.output.out + wharf.output.err])
  for (const name of readdirSync(wharf.dataDir, { recursive: true, encoding: 'utf8' }))
    if (/\.db/.test(name)) seen.push([name, readFileSync(join(wharf.dataDir, name)).toString('latin1')])
  const leaks = seen.flatMap(([where, shown]) =>
    Object.entries(SECRETS).flatMap(([name, secret]) =>
      formsOf(secret)
        .filter((form) => shown.includes(form))
        .map((form) => `${where}: ${name} as ${form}: ${around(shown, form)}`),
    ),
  )
  expect([...new Set(leaks)]).toEqual([])
  const masked = seen.filter(([, shown]) => shown.includes('***')).map(([where]) => where)
  expect(masked).toEqual(expect.arrayContaining(['deliveries', 'transfer job']))
})

function formsOf(secret: string): string[] {
  const escaped = [encodeURIComponent(secret), new URLSearchParams({ '': secret }).toString().slice(1)]
  const pairs = [secret, ...escaped].flatMap((form) => [form, `wharf:${form}`, `\0sender\0${form}`])
  return [
    ...[secret, secret.slice(0, 9), JSON.stringify(secret).slice(1, -1), ...escaped],
    // Without the first characters, which are of the name.
    ...pairs.map((pair) => Buffer.from(pair).toString('base64').slice(-16, -4)),
  ]
}

function around(text: string, form: string): string {
  const at = text.indexOf(form)
  return text.slice(Math.max(0, at - 160), at + form.length + 40)
}
