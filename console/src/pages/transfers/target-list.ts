import type { TransferJob } from '../../api/transfers.ts'

export type TargetKind = 'success' | 'downloading' | 'failed' | 'timeout' | 'waiting'

/** In the order of the legend. */
export const TARGET_KINDS: readonly TargetKind[] = ['success', 'downloading', 'failed', 'timeout', 'waiting']

export interface Target {
  /** `agent_id:container_id`; empty while the window collects, when targets are only counted. */
  key: string
  kind: TargetKind
  code: number
  message: string
  /** Percent. */
  progress: number
}

/** All targets of a job in one order, which does not change while they do: a cell of the map stays the same target. */
export function targetsOf(job: TransferJob): Target[] {
  const told = (['success', 'downloading', 'failed', 'timeout'] as const).flatMap((kind) =>
    Object.entries(job[`${kind}_targets`]).map(([key, { error_code, error_msg, progress }]) => ({
      key,
      kind,
      code: error_code,
      message: error_msg,
      progress,
    })),
  )
  told.sort((a, b) => ORDER.compare(a.key, b.key))
  const untold = job.status === 'Pending' ? Math.max(0, job.targets - told.length) : 0
  const waiting = Array.from({ length: untold }, () => ({
    key: '',
    kind: 'waiting' as const,
    code: 0,
    message: '',
    progress: 0,
  }))
  return [...told, ...waiting]
}

const ORDER = new Intl.Collator('en', { numeric: true })

export function countKinds(targets: readonly Target[]): Record<TargetKind, number> {
  const counts = { success: 0, downloading: 0, failed: 0, timeout: 0, waiting: 0 }
  for (const { kind } of targets) counts[kind]++
  return counts
}
