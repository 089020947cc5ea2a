import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { spawnBound } from '../support/bound-process.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OLDER = fileURLToPath(new URL('../support/older-node.mjs', import.meta.url))

/** The machine's own Node where it is older than Wharf's; else one that says so. */
function olderNode(): string[] {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
  const isOlder = (node: string) =>
    /^v(1\d|2[0-3])\./.test(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '')
  const found = folders.map((folder) => join(folder, 'node')).find(isOlder)
  return found ? [found] : [process.execPath, '--import', OLDER]
}

interface Started {
  child: ChildProcess
  output(): string
  address: string
}

async function start(command: string[], dataDir: string): Promise<Started> {
  const [program = '', ...args] = command
  const child = spawnBound(program, args, {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      WHARF_PORT: '0',
      TASK_GRPC_PORT: '0',
      WHARF_DATA_DIR: dataDir,
      WHARF_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
  const address = await until('wharf listens', () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${text}`)
    return /^wharf is listening on (http:\/\/\S+)\s/m.exec(text)?.[1]
  })
  // Whatever the test leaves must not outlive it.
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await until('nobody listens', async () => !(await answers(address)))
  })
  return { child, output: () => text, address }
}

const answers = (address: string) =>
  fetch(`${address}/livez`).then(
    () => true,
    () => false,
  )

const serve = ['bin/wharf.mjs', 'serve']

test('an older Node that is killed takes Wharf with it, and the data dir is free again', async () => {
  const dataDir = temporaryFolder()
  const first = await start([...olderNode(), ...serve], dataDir)
  first.child.kill('SIGKILL')
  await until('nobody listens', async () => !(await answers(first.address)))
  expect(first.output()).toContain('draining')
  const second = await until('the data dir is free', () => start([...olderNode(), ...serve], dataDir))
  second.child.kill('SIGTERM')
  expect(await once(second.child, 'exit')).toEqual([0, null])
  expect(second.output()).toContain('draining')
})

test('SIGTERM to npm start reaches Wharf', async () => {
  const { child, address, output } = await start(['npm', 'start', '--ignore-scripts'], temporaryFolder())
  child.kill('SIGTERM')
  await once(child, 'exit')
  await until('nobody listens', async () => !(await answers(address)))
  expect(output()).toContain('draining')
})

test('one press of Ctrl-C that arrives twice is one signal', async () => {
  const { child, output } = await start([process.execPath, ...serve], temporaryFolder())
  child.kill('SIGINT')
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(output()).toContain('draining')
})
