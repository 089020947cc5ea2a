import type { Static } from 'typebox'
import { DOWNLOADING } from '../target-codes.ts'
import { hasEnded, type TransferWindow, type WindowTarget } from '../windows/index.ts'
import type { TransferItem, TransferJob, TransferTask } from './transfer-schemas.ts'

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
  const places = placesOf(targets)
  const indexOf = new Map(places.map((place, index) => [placeKey(place), index]))
  return {
    ...fileOf(window),
    project_id: window.projectId,
    status: window.status,
    engine_task_id: window.engineTaskId,
    targets: targets.length,
    ...bytesOf(window),
    ...mapsOf(targets, (target) => ({
      ...toldOf(target),
      connected: !target.absent,
      place: indexOf.get(placeKey(target)) ?? 0,
    })),
    places,
    created_at: iso(window.createdAt),
    window_ends_at: iso(window.endsAt),
    executed_at: isoOrNull(window.executedAt),
    finished_at: isoOrNull(window.finishedAt),
  }
}

/** `collected` is the number of targets so far, of a window that has not closed. */
export function toJobItem(window: TransferWindow, windowMs: number, collected?: number): TransferJobItem {
  const { total, success, failed, timeout, absent } = window.counts
  return {
    ...fileOf(window),
    project_id: window.projectId,
    status: window.status,
    targets: {
      total: collected ?? total,
      success,
      failed,
      downloading: window.status === 'Pending' ? 0 : total - success - failed - timeout - absent,
      absent,
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

/** Where the file goes, and how often. */
function placesOf(targets: WindowTarget[]): TransferJobView['places'] {
  const places = new Map<string, TransferJobView['places'][number]>()
  for (const { directory, user } of targets) {
    const place = places.get(placeKey({ directory, user })) ?? { directory, user, targets: 0 }
    places.set(placeKey(place), { ...place, targets: place.targets + 1 })
  }
  return [...places.values()].sort((a, b) => b.targets - a.targets || (a.directory < b.directory ? -1 : 1))
}

function placeKey({ directory, user }: { directory: string; user: string }): string {
  return JSON.stringify([directory, user])
}

/** As programs beside Wharf read them in Redis. */
export function targetMaps(targets: WindowTarget[]) {
  return mapsOf(targets, toldOf)
}

function toldOf({ status, errorCode, errorMessage, progress }: WindowTarget) {
  return { error_code: hasEnded(status) ? errorCode : DOWNLOADING, error_msg: errorMessage, progress }
}

/** While a window collects, its targets stand in none of the four. */
function mapsOf<T>(targets: WindowTarget[], told: (target: WindowTarget) => T) {
  // No prototype: an agent may be called anything.
  const map = () => Object.create(null) as Record<string, T>
  const maps = {
    success_targets: map(),
    failed_targets: map(),
    downloading_targets: map(),
    timeout_targets: map(),
  }
  for (const target of targets) {
    if (target.status === 'Pending') continue
    maps[MAPS[target.status]][`${target.agentId}:${target.containerId}`] = told(target)
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
