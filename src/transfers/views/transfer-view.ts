import type { Static } from 'typebox'
import { DOWNLOADING } from '../target-codes.ts'
import { hasEnded, type TransferWindow, type WindowTarget } from '../windows/index.ts'
import type { Target, TransferItem, TransferJob, TransferTask } from './transfer-schemas.ts'

type TargetView = Static<typeof Target>
export type TransferTaskView = Static<typeof TransferTask>
export type TransferJobView = Static<typeof TransferJob>
export type TransferJobItem = Static<typeof TransferItem>

const MAPS = {
  Success: 'success_targets',
  Failed: 'failed_targets',
  Running: 'downloading_targets',
  Timeout: 'timeout_targets',
} as const

export function toTaskView(
  taskId: string,
  createdAt: number,
  window: TransferWindow,
  target: WindowTarget,
): Omit<TransferTaskView, 'waiting_for'> {
  return {
    task_id: taskId,
    ...fileOf(window),
    project_id: window.projectId,
    status: target.status,
    target_agent_id: target.agentId,
    target_container_id: target.containerId,
    target_user: target.user,
    target_file_dir: target.directory,
    error_code: hasEnded(target.status) ? target.errorCode : DOWNLOADING,
    error_msg: target.errorMessage,
    progress: { percent: target.progress },
    created_at: iso(createdAt),
  }
}

export function toJobView(
  window: TransferWindow,
  targets: WindowTarget[],
): Omit<TransferJobView, 'waiting_for'> {
  return {
    ...fileOf(window),
    project_id: window.projectId,
    status: window.status,
    engine_task_id: window.engineTaskId,
    targets: targets.length,
    ...bytesOf(window),
    ...targetMaps(targets),
    created_at: iso(window.createdAt),
    window_ends_at: iso(window.endsAt),
    executed_at: isoOrNull(window.executedAt),
    finished_at: isoOrNull(window.finishedAt),
  }
}

/** `collected` is the number of targets so far, of a window that has not closed. */
export function toJobItem(window: TransferWindow, windowMs: number, collected?: number): TransferJobItem {
  const { total, success, failed, timeout } = window.counts
  return {
    ...fileOf(window),
    project_id: window.projectId,
    status: window.status,
    targets: {
      total: collected ?? total,
      success,
      failed,
      downloading: window.status === 'Pending' ? 0 : total - success - failed - timeout,
      timeout,
    },
    ...bytesOf(window),
    created_at: iso(window.createdAt),
    window_starts_at: iso(window.endsAt - windowMs),
    window_ends_at: iso(window.endsAt),
    executed_at: isoOrNull(window.executedAt),
    finished_at: isoOrNull(window.finishedAt),
  }
}

function bytesOf({ fileSize, counts, egress }: TransferWindow) {
  return { file_size: fileSize, delivered_bytes: (fileSize ?? 0) * counts.success, egress_bytes: egress }
}

/** While a window collects, its targets are in none of the four. */
export function targetMaps(targets: WindowTarget[]) {
  // No prototype: an agent may be called anything.
  const map = () => Object.create(null) as Record<string, TargetView>
  const maps = {
    success_targets: map(),
    failed_targets: map(),
    downloading_targets: map(),
    timeout_targets: map(),
  }
  for (const { status, agentId, containerId, errorCode, errorMessage, progress } of targets) {
    if (status === 'Pending') continue
    const error_code = hasEnded(status) ? errorCode : DOWNLOADING
    maps[MAPS[status]][`${agentId}:${containerId}`] = { error_code, error_msg: errorMessage, progress }
  }
  return maps
}

export function fileOf({ publicId, bizId, appId, fullPath, fileName, signature }: TransferWindow) {
  return {
    job_id: publicId,
    biz_id: bizId,
    app_id: appId,
    file_path: fullPath.slice(0, -fileName.length).replace(/(?<=.)\/$/, ''),
    file_name: fileName,
    file_signature: signature,
  }
}

export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
