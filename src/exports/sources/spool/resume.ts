import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../../kernel/index.ts'
import { type Warning, warn } from '../../warnings/index.ts'
import { inFileOrder } from './segment-order.ts'
import type { SpoolFolder } from './spool-folder.ts'
import type { SpoolMeta } from './spool-meta.ts'

/** Beyond this the source's rows may have moved too far. */
const MAX_AGE_MS = 5 * 60_000

export type Resumed = { resumed: true; fetched: number } | { resumed: false; reason: Warning }

/** What a fresh probe says, to be held against the meta. */
export type ExpectedSpool = Pick<
  SpoolMeta,
  'total' | 'pageSize' | 'fields' | 'rowNames' | 'growExcept' | 'csv' | 'key' | 'masks'
>

/** Takes up what an earlier fetch left in the folder, or says why not and leaves the folder to be cleared. */
export async function resumeSpool(
  { folder, clock }: { folder: SpoolFolder; clock: Clock },
  expected: ExpectedSpool,
): Promise<{ meta: SpoolMeta } | { reason: Warning }> {
  const meta = await folder.readMeta()
  if (meta === 'missing') return { reason: warn('STARTED_ANEW_ELSEWHERE', {}) }
  if (meta === 'damaged') return { reason: warn('STARTED_ANEW_NOTES_DAMAGED', {}) }
  if (Math.abs(clock.now() - meta.updated) > MAX_AGE_MS) return { reason: warn('STARTED_ANEW_TOO_OLD', {}) }
  if (meta.total !== expected.total)
    return { reason: warn('STARTED_ANEW_TOTAL_CHANGED', { before: meta.total, total: expected.total }) }
  if (meta.pageSize !== expected.pageSize) return { reason: warn('STARTED_ANEW_PAGE_SIZE_CHANGED', {}) }
  if (columnsOf(meta) !== columnsOf(expected)) return { reason: warn('STARTED_ANEW_COLUMNS_CHANGED', {}) }
  if (!isDeepStrictEqual(meta.key, expected.key)) return { reason: warn('STARTED_ANEW_KEY_CHANGED', {}) }
  if (!(await restoreSegments(folder, meta))) return { reason: warn('STARTED_ANEW_SEGMENT_DAMAGED', {}) }
  return { meta }
}

function columnsOf({ fields, rowNames, growExcept, csv, masks }: ExpectedSpool): string {
  return JSON.stringify([fields, rowNames, growExcept, csv, masks])
}

/** Puts the files back to what the meta counts. False: they do not hold that. */
async function restoreSegments(folder: SpoolFolder, meta: SpoolMeta): Promise<boolean> {
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
