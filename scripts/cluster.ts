// `npm run cluster`: the shape of compose.yaml without Docker, on free loopback ports: PostgreSQL, Redis, an S3-compatible store (in
// memory), two instances, and nginx with deploy/nginx.conf before them. Everything is gone when it ends.
import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { end, spawnBound } from '../test/support/bound-process.ts'
import { findBinary } from '../test/support/find-binary.ts'
import { onFreePort } from '../test/support/on-free-port.ts'
import { preparePostgres } from '../test/support/postgres-server.ts'
import { prepareRedis } from '../test/support/redis-server.ts'
import { S3Server } from '../test/support/s3-server.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const PATIENCE_MS = 120_000

export interface Cluster {
  /** nginx. */
  address: string
  adminToken: string
  instances: string[]
  stop(): Promise<void>
}

export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-cluster-'))
  const undo: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const urls = await startGround(undo)
    const adminToken = 'the-token-of-the-cluster'
    const env = {
      PATH: process.env.PATH ?? '',
      ...urls,
      WHARF_TRUST_PROXY: 'loopback',
      WHARF_ALLOW_HOSTS: '127.0.0.1',
      WHARF_ADMIN_TOKEN: adminToken,
      WHARF_SHARED_DIR: join(folder, 'shared'),
      WHARF_LOG_LEVEL: 'warn',
      WHARF_PORT: '0',
      TASK_GRPC_PORT: '0',
    }
    const instances = await Promise.all(
      ['data-1', 'data-2'].map((name) => startInstance({ ...env, WHARF_DATA_DIR: join(folder, name) }, undo)),
    )
    const address = await startNginx(folder, instances, undo)
    return { address, adminToken, instances, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Undo = (() => Promise<unknown> | unknown)[]

async function startGround(undo: Undo): Promise<Record<string, string>> {
  const launchers = { postgres: preparePostgres({ fsync: false }), redis: prepareRedis() }
  const ports: Record<string, number> = {}
  for (const [name, launcher] of Object.entries(launchers)) {
    if (!launcher) throw new Error(`${name} is missing: install it and try again`)
    undo.push(() => launcher.clean())
    const launched = await launcher.start()
    undo.push(() => launched.stop())
    ports[name] = launched.port
  }
  const store = await S3Server.start()
  undo.push(() => store.stop())
  return {
    DATABASE_URL: `postgres://wharf@127.0.0.1:${ports.postgres}/postgres`,
    REDIS_URL: `redis://127.0.0.1:${ports.redis}/0`,
    S3_ENDPOINT: store.endpoint,
    S3_REGION: store.region,
    S3_BUCKET: store.bucket,
    S3_ACCESS_KEY_ID: store.accessKeyId,
    S3_SECRET_ACCESS_KEY: store.secretAccessKey,
  }
}

async function startInstance(env: Record<string, string>, undo: Undo): Promise<string> {
  const child = spawnBound(process.execPath, [join(root, 'bin', 'wharf.mjs'), 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  undo.push(() => end(child, 'SIGTERM'))
  const [address] = await printed(child, /^wharf is listening on (http:\S+)/m)
  return String(address)
}

async function startNginx(folder: string, instances: string[], undo: Undo): Promise<string> {
  const nginx = findBinary('nginx')
  if (!nginx) throw new Error('nginx is missing: install it and try again')
  chmodSync(folder, 0o755)
  const file = join(folder, 'nginx.conf')
  return onFreePort(async (port) => {
    writeFileSync(file, nginxConfiguration(folder, { port, instances }))
    const child = spawnBound(nginx, ['-p', folder, '-c', file, '-e', 'stderr'], { stdio: 'inherit' })
    const address = `http://127.0.0.1:${port}`
    const until = Date.now() + PATIENCE_MS
    while (child.exitCode === null && Date.now() < until) {
      const answer = await fetch(`${address}/livez`).catch(() => undefined)
      if (answer?.ok) {
        undo.push(() => end(child, 'SIGTERM'))
        return address
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await end(child, 'SIGTERM')
    return undefined
  })
}

/** deploy/nginx.conf with the addresses of this machine, and around it what a distribution's own nginx.conf has. */
export function nginxConfiguration(
  folder: string,
  { port, instances }: { port: number; instances: string[] },
): string {
  const [one = '', two = ''] = instances.map((address) => new URL(address).host)
  const site = readFileSync(join(root, 'deploy', 'nginx.conf'), 'utf8')
    .replace('wharf-1:8080', one)
    .replace('wharf-2:8080', two)
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  return `daemon off;\nmaster_process off;\npid ${folder}/pid;\nerror_log stderr warn;\nevents { }\nhttp {\naccess_log off;\n${temporary}\n${site}\n}\n`
}

async function printed(child: ChildProcess, pattern: RegExp): Promise<string[]> {
  let text = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (more: string) => {
        text += more
        const found = pattern.exec(text)
        if (found) resolve(found.slice(1))
      })
    child.once('exit', (code) => reject(new Error(`an instance ended with ${code}: ${text}`)))
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  new Command('npm run cluster --')
    .description(
      'Runs two instances after nginx, with PostgreSQL, Redis and a store, on loopback, until it is interrupted.',
    )
    .parse()
  const cluster = await startCluster()
  console.log(`
  Console      ${cluster.address}/
  Admin token  ${cluster.adminToken}
  Instances    ${cluster.instances.join(', ')}

  A project:   WHARF_ADMIN_TOKEN=${cluster.adminToken} npx wharf project create shop --server ${cluster.address}
`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => cluster.stop().then(() => process.exit(0)))
}
