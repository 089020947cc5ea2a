import { execFileSync } from 'node:child_process'

/** A foreign eye on what was delivered. */
export function sha256sum(path: string): string {
  return execFileSync('sha256sum', [path], { encoding: 'utf8' }).split(' ')[0] ?? ''
}
