import { execFileSync, spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The commit of a release; undefined in a checkout without its history. */
export function findRelease(version: string): string | undefined {
  const subject = `^release: ${version.replaceAll('.', '\\.')}$`
  const found = spawnSync('git', ['log', '-1', '--format=%H', `--grep=${subject}`], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const commit = found.stdout?.trim()
  if (!commit)
    console.error(`\n!!! SKIPPED: upgrades from ${version}. They need the history of this repository.\n`)
  return commit || undefined
}

/** The entry point of a release, unpacked beside the packages of this tree. */
export function unpackRelease(commit: string): string {
  const folder = temporaryFolder()
  const options = { cwd: ROOT, maxBuffer: 100 << 20 }
  const input = execFileSync('git', ['archive', commit, 'src', 'proto', 'package.json'], options)
  execFileSync('tar', ['-x', '-C', folder], { input })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'src/main.ts')
}
