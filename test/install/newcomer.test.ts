import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { delimiter, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { nginxConfiguration } from '../../scripts/cluster.ts'
import { end, spawnBound } from '../support/bound-process.ts'
import { NGINX } from '../support/nginx.ts'
import { onFreePort } from '../support/on-free-port.ts'
import { TraceCollector } from '../support/trace-collector.ts'
import { unprivilegedUser } from '../support/unprivileged-user.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A clone with its packages linked and its console built, because installing and building take minutes. */
function freshClone(): string {
  const folder = join(temporaryFolder(), 'wharf')
  const left = new Set(['node_modules', 'dist', 'data', '.git'])
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !left.has(relative(ROOT, path)) })
  cpSync(join(ROOT, 'dist/console'), join(folder, 'dist/console'), { recursive: true })
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(to)
  for (const name of readdirSync(from))
    if (!['.bin', '.cache', '.wharf-installed'].includes(name)) symlinkSync(join(from, name), join(to, name))
  cpSync(join(from, '.bin'), join(to, '.bin'), { recursive: true, verbatimSymlinks: true })
  const lock = readFileSync(join(ROOT, 'package-lock.json'))
  writeFileSync(join(to, '.wharf-installed'), createHash('sha256').update(lock).digest('hex'))
  return folder
}

/** Another user where this one is root and the other one can read the packages. */
function someUser(folder: string) {
  const user = unprivilegedUser()
  if (!user || spawnSync('cat', [join(ROOT, 'package.json')], user).status !== 0) return {}
  execFileSync('chown', ['-hR', `${user.uid}:${user.gid}`, join(folder, '..')])
  return user
}

function setup(settings: Record<string, string>) {
  const folder = freshClone()
  const user = someUser(folder)
  const env = {
    // The machine's own Node, which may be older than Wharf's.
    PATH: (process.env.PATH ?? '')
      .split(delimiter)
      .filter((path) => !path.includes('node_modules'))
      .join(delimiter),
    HOME: join(folder, '..'),
    WHARF_PORT: '0',
    TASK_GRPC_PORT: '0',
    WHARF_LOG_LEVEL: 'warn',
    ...settings,
  }
  const start = (command: string, more: Record<string, string> = {}) => {
    const child = spawnBound('bash', ['-c', `exec ${command}`], {
      cwd: folder,
      env: { ...env, ...more },
      ...user,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
    return { child, said: () => said }
  }
  /** Resolves with what the command has printed. */
  const run = async (command: string, more?: Record<string, string>) => {
    const { child, said } = start(command, more)
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code, `${command}\n${said()}`).toBe(0)
    return said()
  }
  /** Resolves with the address when the server listens. */
  const serve = async (command: string, more?: Record<string, string>) => {
    const { child, said } = start(command, more)
    onTestFinished(() => end(child, 'SIGTERM'))
    const address = await until(`${command} listens`, () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${said()}`)
      return /^wharf is listening on (http:\S+)/m.exec(said())?.[1]
    })
    return { address, stop: () => end(child, 'SIGTERM') }
  }
  return { folder, run, serve }
}

/** nginx with deploy/nginx.conf and its lines for TLS. */
async function startTls(instance: string): Promise<{ address: string; ca: string }> {
  const folder = temporaryFolder()
  chmodSync(folder, 0o777)
  const [key, ca] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', ca], {
    stdio: 'pipe',
  })
  const address = await onFreePort(async (port) => {
    const file = join(folder, 'nginx.conf')
    const site = nginxConfiguration(folder, { port, instances: [instance, instance] })
      .replace(/^ *listen 127.*\n/m, '')
      .replace('# listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
      .replaceAll(/# (ssl_certificate\S*) \/etc\/nginx\/tls/g, `$1 ${folder}`)
    writeFileSync(file, site)
    const child = spawnBound(NGINX ?? '', ['-p', folder, '-c', file, '-e', 'stderr'], { stdio: 'ignore' })
    onTestFinished(() => end(child, 'SIGTERM'))
    const address = `https://localhost:${port}`
    return until('nginx answers or has ended', async () => {
      if (child.exitCode !== null) return { port: undefined }
      const { status } = await askTls(`${address}/livez`, readFileSync(ca)).catch(() => ({ status: 0 }))
      return status === 200 && { port: address }
    }).then(({ port }) => port)
  })
  return { address, ca: readFileSync(ca, 'utf8') }
}

function askTls(url: string, ca: string | Buffer, { key = '', body = '' } = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    const asked = request(url, { ca, method: body ? 'POST' : 'GET', headers, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (more: string) => (text += more))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    asked.on('error', reject).end(body)
  })
}

test.runIf(NGINX)(
  'a newcomer starts it from a clone as another user, puts nginx with TLS before it, and moves it',
  async () => {
    const traces = await TraceCollector.start()
    const { folder, run, serve } = setup({ ...traces.env, WHARF_TRUST_PROXY: 'loopback' })
    // README, Five minutes: the server, then its first file.
    const server = await serve('npm start')
    const [, , variables = '', first = ''] =
      readFileSync(join(folder, 'README.md'), 'utf8').match(/(?<=^```sh\n)[\s\S]*?(?=^```$)/gm) ?? []
    expect([variables, first].join()).toMatch(/demo-key[\s\S]*mode=sync/)
    const five = `${variables}${first}`.replaceAll('http://127.0.0.1:8080', server.address)
    await run(`bash -ec '${five.replaceAll("'", `'\\''`)}'`)
    expect(readFileSync(join(folder, 'orders.xlsx')).subarray(0, 2).toString()).toBe('PK')

    await run('npx wharf project create shop')
    const key =
      /^API key +(\S+)$/m.exec(
        await run('node_modules/.bin/wharf key create shop --name reports --scope "exports:*"'),
      )?.[1] ?? ''
    const { address, ca } = await startTls(server.address)
    const body = JSON.stringify({ source_url: `${server.address}/samples/orders?rows=10` })
    const { task_id } = JSON.parse((await askTls(`${address}/api/exports`, ca, { key, body })).text)
    const done = await until('the export has succeeded', async () => {
      const view = JSON.parse((await askTls(`${address}/api/exports/${task_id}`, ca, { key })).text)
      return view.status === 'succeeded' && (view as { download_url: string })
    })
    expect(done.download_url).toMatch(new RegExp(`^${address}/`))
    const { text: file } = await askTls(done.download_url, ca)
    expect(file.trim().split('\n')).toHaveLength(11)
    const admin = readFileSync(join(folder, 'data/admin-token'), 'utf8').trim()
    const { text: metrics } = await askTls(`${address}/metrics`, ca, { key: admin })
    expect(metrics).toMatch(/^wharf_jobs_ended_total\{.*kind="export".*\} [1-9]/m)
    await until('the request is in a trace', () => traces.of('POST /api/exports').length > 0)

    await run('node_modules/.bin/wharf backup ../backup')
    await server.stop()
    const restored = { WHARF_DATA_DIR: join(folder, '../restored') }
    await run('node_modules/.bin/wharf restore ../backup', restored)
    const moved = await serve('node bin/wharf.mjs serve', restored)
    const again = await fetch(`${moved.address}/api/exports/${task_id}/file`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(Buffer.from(await again.arrayBuffer()).toString()).toBe(file)
  },
)
