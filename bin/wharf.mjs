#!/usr/bin/env node
// The `wharf` command. It may be started by an older Node than Wharf needs; then it hands over to the Node that was
// installed with Wharf. In a checkout it runs the TypeScript sources, in an installed package the emitted JavaScript.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'src', 'main.ts')
const entry = existsSync(source) ? source : join(root, 'dist', 'main.js')

/** Set for a process that an older Node has started, and gone before anything else looks at the environment. */
const HANDED_OVER = 'WHARF_HANDED_OVER'

if (Number(process.versions.node.split('.')[0]) >= 24) {
  if (process.env[HANDED_OVER] && process.channel) endWithParent()
  delete process.env[HANDED_OVER]
  await import('./tune.mjs')
  process.argv[1] = entry
  await import(pathToFileURL(entry).href)
} else handOver()

function handOver() {
  const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(node)) {
    const inCheckout = entry === source ? "; run 'npm ci' first, which brings one" : ''
    console.error(`wharf needs Node 24 or newer, this is ${process.version}${inCheckout}`)
    process.exit(1)
  }
  const self = fileURLToPath(import.meta.url)
  const child = spawn(node, [self, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [HANDED_OVER]: '1' },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      if (child.connected) child.send(signal, () => undefined)
      child.kill(signal)
    })
  child.on('exit', (code, signal) => {
    if (signal) process.removeAllListeners(signal)
    signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)
  })
}

/** Stops like after SIGTERM when the parent is gone without a word: it was killed, and nobody else would stop this process. */
function endWithParent() {
  let told = false
  process.once('message', () => {
    told = true
    process.channel?.unref()
  })
  process.once('disconnect', () => told || process.kill(process.pid, 'SIGTERM'))
  // The channel alone keeps no process alive.
  process.channel.unref()
}
