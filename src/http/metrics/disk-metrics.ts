import { statfs } from 'node:fs/promises'
import type { MetricSet } from '../../kernel/index.ts'

/** Room on the disks of these folders, by a name that is the same on every instance. */
export function addDiskMetrics(set: MetricSet, folders: Record<string, string>): void {
  const each = async (tell: (folder: string, bytes: { free: number; size: number }) => void) => {
    for (const [name, path] of Object.entries(folders)) {
      const found = await statfs(path).catch(() => undefined)
      if (found) tell(name, { free: found.bavail * found.bsize, size: found.blocks * found.bsize })
    }
  }
  set.gauge('wharf_disk_free_bytes', 'Room left for Wharf on the disk of a folder', ['folder'], (gauge) =>
    each((folder, { free }) => gauge.set({ folder }, free)),
  )
  set.gauge('wharf_disk_size_bytes', 'Size of the disk of a folder', ['folder'], (gauge) =>
    each((folder, { size }) => gauge.set({ folder }, size)),
  )
}
