import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config.ts'
import { end, spawnBound, untilPrinted } from '../support/bound-process.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

interface Step {
  name: string
  rest: string
}

function stepsOf(dockerfile: string): Step[] {
  const lines = dockerfile.split('\n').filter((line) => /^[A-Z]+ /.test(line))
  return lines.map((line) => ({ name: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }))
}

/** Those of the last stage. */
const steps = stepsOf(read('Dockerfile'))
const last = steps.slice(steps.map(({ name }) => name).lastIndexOf('FROM'))
const instruction = (name: string) => last.find((step) => step.name === name)?.rest ?? ''

test('what the steps of the Dockerfile put together starts, is healthy and stops', async () => {
  const scratch = temporaryFolder()
  const app = join(scratch, 'app')
  for (const { name, rest } of last) {
    const words = rest.split(' ')
    if (name === 'COPY' && words[0]?.startsWith('--from')) continue
    if (name === 'COPY')
      for (const from of words.slice(0, -1)) {
        expect(existsSync(join(ROOT, from)), from).toBe(true)
        const to = words.at(-1) === './' ? basename(from) : (words.at(-1) ?? '')
        mkdirSync(dirname(join(app, to)), { recursive: true })
        cpSync(join(ROOT, from), join(app, to), { recursive: true })
      }
    // In place of `npm ci`, which needs a registry.
    if (name === 'RUN' && rest.startsWith('npm ci'))
      symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'))
    const link = name === 'RUN' ? /ln -s \/app\/(\S+) \/usr\/local\/bin\/(\S+)/.exec(rest) : null
    if (link) {
      mkdirSync(join(scratch, 'bin'))
      symlinkSync(join(app, link[1] ?? ''), join(scratch, 'bin', link[2] ?? ''))
    }
  }
  const given = Object.fromEntries(
    instruction('ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  )
  const env = {
    ...given,
    // This Node before the machine's own, as in the image.
    PATH: `${join(scratch, 'bin')}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    WHARF_HOST: '127.0.0.1',
    WHARF_PORT: '0',
    TASK_GRPC_PORT: '0',
    WHARF_DATA_DIR: join(scratch, given.WHARF_DATA_DIR ?? ''),
  }
  const [program = '', ...args] = [
    ...JSON.parse(instruction('ENTRYPOINT')),
    ...JSON.parse(instruction('CMD')),
  ] as string[]
  const child = spawnBound(join(scratch, 'bin', program), args, {
    cwd: app,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  expect(await untilPrinted(child, 'listening on http')).toBe(true)
  const [check = '', ...checkArgs] = JSON.parse(
    /CMD (\[.*\])/.exec(instruction('HEALTHCHECK'))?.[1] ?? '[]',
  ) as string[]
  const healthy = spawnSync(join(scratch, 'bin', check), checkArgs, { cwd: app, env, encoding: 'utf8' })
  expect([healthy.status, healthy.stderr]).toEqual([0, ''])
  await end(child, 'SIGTERM')
  expect(child.exitCode).toBe(0)
})

test('the container runs as nobody in particular, shows its ports, and stops by the signal that drains', () => {
  expect(instruction('USER')).toBe('node')
  expect(instruction('EXPOSE').split(' ')).toEqual([
    String(SETTINGS.WHARF_PORT.fallback),
    String(SETTINGS.TASK_GRPC_PORT.fallback),
  ])
  expect(instruction('STOPSIGNAL')).toBe('SIGTERM')
})

interface Service {
  restart?: string
  stop_grace_period?: string
  read_only?: boolean
  environment?: Record<string, string | number>
  volumes?: string[]
  depends_on?: Record<string, object>
}

test('compose.yaml has two instances, all that they need, and settings that exist', () => {
  const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, Service>
    volumes: Record<string, null>
  }
  expect(Object.keys(services).sort()).toEqual([
    'bucket',
    'nginx',
    'postgres',
    'redis',
    'store',
    'wharf-1',
    'wharf-2',
  ])
  for (const [name, { restart, depends_on = {}, volumes: mounted = [] }] of Object.entries(services)) {
    // It ends when the bucket is there.
    if (name !== 'bucket') expect([name, restart]).toEqual([name, 'unless-stopped'])
    for (const needed of Object.keys(depends_on)) expect(services).toHaveProperty(needed)
    for (const volume of mounted.map((entry) => entry.split(':')[0] ?? '')) {
      if (volume.startsWith('./')) expect(existsSync(join(ROOT, volume)), volume).toBe(true)
      else expect(volumes).toHaveProperty(volume)
    }
  }
  for (const name of ['wharf-1', 'wharf-2']) {
    const { environment = {}, stop_grace_period = '', read_only } = services[name] ?? {}
    expect(read_only).toBe(true)
    expect(Object.keys(environment).filter((setting) => !(setting in SETTINGS))).toEqual([])
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(
      Number(environment.WHARF_DRAIN_SECONDS) + 2,
    )
    expect(read('deploy/nginx.conf')).toContain(`server ${name}:8080 max_fails=0;`)
  }
})
