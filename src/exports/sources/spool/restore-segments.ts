import { inFileOrder } from './segment-order.ts'
import type { SpoolFolder } from './spool-folder.ts'
import type { SpoolMeta } from './spool-meta.ts'

/** Puts the files back to what the meta counts. False: they do not hold that. */
export async function restoreSegments(folder: SpoolFolder, meta: SpoolMeta): Promise<boolean> {
  for (const [index, { pages, keys }] of meta.ranges.entries()) {
    const logs = [folder.restoreLog(`pages-${index}`, pages), folder.restoreLog(`keys-${index}`, keys)]
    if ((await Promise.all(logs)).includes(false)) return false
  }
  const [first, ...others] = inFileOrder(meta)
  // Of a CSV spool, the next segments may already have been appended to the first, see `joinSegments`.
  let joined = first!.state.bytes
  for (const { number, state, complete } of others) {
    if (meta.csv && state.bytes > 0 && !(await folder.has(number))) {
      if (!(await folder.holds(first!.number, joined, state))) return false
      joined += state.bytes
    } else if (!(await folder.restore(number, state, { complete }))) return false
  }
  return folder.restore(first!.number, first!.state, { complete: first!.complete, keep: joined })
}
