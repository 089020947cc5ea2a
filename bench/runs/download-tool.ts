import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Feed } from './feed.ts'

/** A program that fetches a list of addresses into a folder, and only that. */
export interface DownloadTool {
  name: string
  command: string
  args(folder: string, list: string): string[]
}

export function downloadTools(connections: number): DownloadTool[] {
  const aria2 = ['-q', '--no-conf', '-x1', '-s1', '--file-allocation=none', '--summary-interval=0']
  return [
    {
      name: `aria2c -j${connections}`,
      command: 'aria2c',
      args: (folder, list) => [...aria2, '-j', String(connections), '-d', folder, '-i', list],
    },
    {
      name: 'wget (1 connection)',
      command: 'wget',
      args: (folder, list) => ['-q', '--no-config', '-P', folder, '-i', list],
    },
  ]
}

export function isInstalled({ command }: DownloadTool): boolean {
  const found = spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
  if (!found) console.log(`${command} is not installed and left out (Debian: apt-get install aria2 wget)`)
  return found
}

/** How long it took, in seconds. */
export async function fetchWithTool(
  tool: DownloadTool,
  feed: Feed,
  check: (folder: string) => void,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  const list = join(folder, 'list.txt')
  writeFileSync(list, feed.list())
  try {
    const begun = performance.now()
    const [code] = await once(spawn(tool.command, tool.args(folder, list), { stdio: 'inherit' }), 'exit')
    if (code !== 0) throw new Error(`${tool.command} ended with ${code}`)
    const seconds = (performance.now() - begun) / 1_000
    check(folder)
    return seconds
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
