import { execFileSync } from 'node:child_process'

/** Databases refuse to run as root. Undefined when this process is not root's. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {}
  }
  throw new Error("a database does not run as root, and there is neither a user 'postgres' nor 'nobody'")
}
