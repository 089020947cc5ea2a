import type { WaitingFor } from '../../jobs/index.ts'
import type { TransferStatus } from '../tables.ts'
import { DOWNLOADING } from '../target-codes.ts'
import { hasEnded, type TransferWindow, type WindowTarget } from '../windows/index.ts'

interface TargetView {
  error_code: number
  error_msg: string
  progress: number
}

interface FileView {
  job_id: string
  biz_id: number
  app_id: number
  file_path: string
  file_name: string
  file_signature: string
}

/** One caller's request, as everybody outside sees it. */
export interface TransferTaskView extends FileView {
  task_id: string
  project_id: string
  status: TransferStatus
  target_agent_id: string
  target_container_id: string
  target_user: string
  target_file_dir: string
  error_code: number
  error_msg: string
  progress: { percent: number }
  created_at: string
  /** What its delivery waits for: a part of the installation that is away. */
  waiting_for: WaitingFor | null
}

/** The delivery of one window. */
export interface TransferJobView extends FileView, BytesView {
  project_id: string
  status: TransferStatus
  engine_task_id: string | null
  targets: number
  success_targets: Record<string, TargetView>
  failed_targets: Record<string, TargetView>
  downloading_targets: Record<string, TargetView>
  timeout_targets: Record<string, TargetView>
  created_at: string
  window_ends_at: string
  executed_at: string | null
  finished_at: string | null
  waiting_for: WaitingFor | null
}

/** A delivery in a list: counts in place of its targets. */
export interface TransferJobItem extends FileView, BytesView {
  project_id: string
  status: TransferStatus
  targets: { total: number; success: number; failed: number; downloading: number; timeout: number }
  created_at: string
  window_starts_at: string
  window_ends_at: string
  executed_at: string | null
  finished_at: string | null
}

/** What a delivery moved, and how much of that came from the server itself. */
interface BytesView {
  file_size: number | null
  delivered_bytes: number
  /** null: the engine does not tell. */
  egress_bytes: number | null
}

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

function bytesOf({ fileSize, counts, egress }: TransferWindow): BytesView {
  return { file_size: fileSize, delivered_bytes: (fileSize ?? 0) * counts.success, egress_bytes: egress }
}

/** While a window collects, its targets stand in none of the four. */
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

export function fileOf({ publicId, bizId, appId, fullPath, fileName, signature }: TransferWindow): FileView {
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
