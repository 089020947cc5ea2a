import { lchownSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What root made in another user's folder becomes that user's: a service that runs as that user could not open it. */
export function giveToOwner(folder: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(folder)
  if (uid === 0) return
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    if (lstatSync(path).uid === 0) lchownSync(path, uid, gid)
  }
}
