import type { Selectable } from 'kysely'
import type { TransferTarget } from '../../carriers/index.ts'
import type { Schema } from '../../ledger/index.ts'
import type { TransferStatus } from '../tables.ts'

/**
 * A window and the delivery it becomes.
 *
 *   Pending ──close, at its end──▶ Running ──┬─▶ Success   every target has the file
 *      │                                     ├─▶ Failed    every target has ended, and not all of them well
 *      └──cancel──▶ Failed ◀──cancel─────────┤
 *                                            └─▶ Timeout   not every target has ended in time
 *
 * Its targets, and through them its tasks, go the same way one by one. What has ended never changes again.
 */
export interface TransferWindow {
  id: string
  publicId: string
  jobId: string | null
  projectId: string
  bizId: number
  appId: number
  fullPath: string
  fileName: string
  signature: string
  artifactKey: string | null
  status: TransferStatus
  version: number
  engineTaskId: string | null
  createdAt: number
  endsAt: number
  executedAt: number | null
  deadlineAt: number | null
  finishedAt: number | null
  /** As of the last change; a window that still collects has not counted yet. */
  counts: { total: number; success: number; failed: number; timeout: number; absent: number }
  fileSize: number | null
  egress: number | null
}

export interface WindowTarget extends TransferTarget {
  id: string
  status: TransferStatus
  errorCode: number
  errorMessage: string
  progress: number
  /** Its agent is not connected, and is waited for. */
  absent: boolean
}

export function hasEnded(status: TransferStatus): boolean {
  return status === 'Success' || status === 'Failed' || status === 'Timeout'
}

/** How a delivery ended whose targets all have. */
export function endOf(targets: Pick<WindowTarget, 'status'>[]): 'Success' | 'Failed' | 'Timeout' {
  if (targets.some(({ status }) => status === 'Timeout')) return 'Timeout'
  return targets.every(({ status }) => status === 'Success') ? 'Success' : 'Failed'
}

export function toWindow(row: Selectable<Schema['transfer_windows']>): TransferWindow {
  return {
    id: row.id,
    publicId: row.public_id,
    jobId: row.job_id,
    projectId: row.project_id,
    bizId: Number(row.biz_id),
    appId: Number(row.app_id),
    fullPath: row.full_path,
    fileName: row.file_name,
    signature: row.signature,
    artifactKey: row.artifact_key,
    status: row.status,
    version: row.version,
    engineTaskId: row.engine_task_id,
    createdAt: row.created_at,
    endsAt: row.ends_at,
    executedAt: row.executed_at,
    deadlineAt: row.deadline_at,
    finishedAt: row.finished_at,
    counts: {
      total: row.targets,
      success: row.succeeded,
      failed: row.failed,
      timeout: row.timed_out,
      absent: row.absent,
    },
    fileSize: row.file_size,
    egress: row.egress,
  }
}

export function toTarget(row: Selectable<Schema['transfer_targets']>): WindowTarget {
  return {
    id: row.id,
    agentId: row.agent_id,
    containerId: row.container_id,
    user: row.owner,
    directory: row.directory,
    status: row.status,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    progress: row.progress,
    absent: row.absent === 1,
  }
}
