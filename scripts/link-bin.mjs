// Makes `npx wharf` work inside the checkout: npm links the commands of dependencies, never of the project itself.
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules', '.bin')
if (process.platform !== 'win32' && existsSync(join(root, 'node_modules'))) {
  mkdirSync(bin, { recursive: true })
  rmSync(join(bin, 'wharf'), { force: true })
  symlinkSync('../../bin/wharf.mjs', join(bin, 'wharf'))
}
