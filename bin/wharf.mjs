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

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import('./tune.mjs')
  process.argv[1] = entry
  await import(pathToFileURL(entry).href)
} else {
  const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(node)) {
    console.error(
      `wharf needs Node 24 or newer, this is ${process.version}; in a checkout run 'npm ci' first`,
    )
    process.exit(1)
  }
  const self = fileURLToPath(import.meta.url)
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (signal) process.removeAllListeners(signal)
    signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)
  })
}
