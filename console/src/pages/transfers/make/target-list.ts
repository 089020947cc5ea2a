import type { TransferJob } from '../../../api/transfers.ts'

export type TargetKind = 'success' | 'downloading' | 'absent' | 'failed' | 'timeout' | 'waiting'

/** In the order of the legend. */
export const TARGET_KINDS: readonly TargetKind[] = [
  'success',
  'downloading',
  'absent',
  'failed',
  'timeout',
  'waiting',
]

export interface Target {
  /** `agent_id:container_id`; empty while the window collects, when targets are only counted. */
  key: string
  kind: TargetKind
  code: number
  message: string
  /** Percent. */
  progress: number
  /** Where the file goes; undefined while the window collects. */
  place?: TransferJob['places'][number] | undefined
}

/** All targets of a job in one order, which does not change while they do: a cell of the map stays the same target. */
export function targetsOf(job: TransferJob): Target[] {
  const told = (['success', 'downloading', 'failed', 'timeout'] as const).flatMap((kind) =>
    Object.entries(job[`${kind}_targets`]).map(([key, target]) => ({
      key,
      kind: kind === 'downloading' && !target.connected ? ('absent' as const) : kind,
      code: target.error_code,
      message: target.error_msg,
      progress: target.progress,
      place: job.places[target.place],
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

/** It has ended, and its file did not arrive. */
export function hasFailed({ kind }: Target): boolean {
  return kind === 'failed' || kind === 'timeout'
}

const ORDER = new Intl.Collator('en', { numeric: true })

export function countKinds(targets: readonly Target[]): Record<TargetKind, number> {
  const counts = { success: 0, downloading: 0, absent: 0, failed: 0, timeout: 0, waiting: 0 }
  for (const { kind } of targets) counts[kind]++
  return counts
}
