// Makes `npx wharf` work inside the checkout: npm links the commands of dependencies, never of the project itself.
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules', '.bin')
const installed = existsSync(join(root, 'node_modules'))
if (installed) mkdirSync(bin, { recursive: true })
if (process.platform === 'win32') {
  // `npm start` replaces its shell by Wharf, so that signals arrive. There is no such command on Windows.
  if (installed) writeFileSync(join(bin, 'exec.cmd'), '@%*\r\n')
} else if (installed) {
  rmSync(join(bin, 'wharf'), { force: true })
  symlinkSync('../../bin/wharf.mjs', join(bin, 'wharf'))
}
