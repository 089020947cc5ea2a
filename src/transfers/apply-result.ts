import type { TargetResult, TransferResult } from '../carriers/index.ts'
import { DONE, DOWNLOADING } from './target-codes.ts'
import { hasEnded, type TargetChange, type WindowTarget } from './windows/index.ts'

/** What an engine's answer changes. Rows may be missing, doubled, or speak of targets that nobody asked for. */
export function changesBy(targets: WindowTarget[], result: TransferResult): TargetChange[] {
  const open = targets.filter(({ status }) => !hasEnded(status))
  const { uploadError } = result
  if (uploadError) return open.map((target) => ended(target, uploadError.code, uploadError.message))
  const rows = indexed(result.targets)
  return open.flatMap((target) => {
    const row = rows.get(keyOf(target, target.directory)) ?? rows.get(keyOf(target, null))
    const change = row && changeBy(target, row)
    return change ? [change] : []
  })
}

/** Ends a target that no engine has ended. */
export function ended(target: WindowTarget, errorCode: number, errorMessage: string): TargetChange {
  return {
    id: target.id,
    status: 'Failed',
    errorCode,
    errorMessage,
    progress: target.progress,
    absent: false,
  }
}

function changeBy(target: WindowTarget, row: TargetResult): TargetChange | undefined {
  const { errorCode, errorMessage } = row
  const { id } = target
  if (errorCode === DONE)
    return { id, status: 'Success', errorCode, errorMessage, progress: 100, absent: false }
  if (errorCode !== DOWNLOADING) return ended(target, errorCode, errorMessage)
  const progress = Math.min(100, Math.max(0, Math.round(row.progress) || 0))
  const absent = row.connected === false
  if (progress === target.progress && absent === target.absent) return undefined
  return { id, status: 'Running', errorCode, errorMessage, progress, absent }
}

/** Of two rows for one target, the one with an end counts, whichever came first. */
function indexed(rows: TargetResult[]): Map<string, TargetResult> {
  const byTarget = new Map<string, TargetResult>()
  for (const row of rows) {
    const key = keyOf(row, row.directory ?? null)
    const before = byTarget.get(key)
    if (!before || before.errorCode === DOWNLOADING) byTarget.set(key, row)
  }
  return byTarget
}

function keyOf({ agentId, containerId }: { agentId: string; containerId: string }, directory: string | null) {
  return JSON.stringify([agentId, containerId, directory?.replace(/(?<=.)\/+$/, '') ?? null])
}
