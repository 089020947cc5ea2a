import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { isErrno } from '../../src/kernel/index.ts'

/** A folder on a disk of its own with this little room, or nothing: Debian's containers run as root, often without the right to mount. */
export function smallDisk(megabytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' })
    rmSync(folder, { recursive: true })
  })
  return mkdtempSync(join(folder, 'data-'))
}

/** Fills the disk up to this much room; returns what makes room again. */
export function fillDisk(folder: string, leave: number): () => void {
  const { bavail, bsize } = statfsSync(folder)
  const ballast = join(folder, 'ballast')
  try {
    writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - leave)))
  } catch (error) {
    // Somebody else has written meanwhile: then it is full, too.
    if (!isErrno(error, 'ENOSPC')) throw error
  }
  return () => rmSync(ballast)
}
