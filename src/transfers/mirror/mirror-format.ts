import type { TransferTarget } from '../../carriers/index.ts'
import { hashOf, targetsKeyOf } from '../transfer-keys.ts'
import { fileOf, iso, targetMaps } from '../views/transfer-view.ts'
import type { TransferWindow, WindowTarget } from '../windows/index.ts'

const NEVER = '0001-01-01T00:00:00Z'

/** Keys of one window: the first two are for other programs, the third is ours. */
export function keysOf(window: Pick<TransferWindow, 'publicId'>, prefix: string): [string, string, string] {
  const { publicId } = window
  return [publicId, targetsKeyOf(publicId), `${prefix}:transfer-mirror:${hashOf(publicId)}`]
}

/** The job in the words that programs beside Wharf read. Directory and user are the first target's, for the old ones. */
export function jobJson(window: TransferWindow, targets: WindowTarget[], first?: TransferTarget): string {
  return JSON.stringify({
    ...fileOf(window),
    target_file_dir: first?.directory ?? '',
    target_user: first?.user ?? '',
    gse_task_id: window.engineTaskId ?? '',
    status: window.status,
    create_time: iso(window.createdAt),
    execute_time: window.executedAt === null ? NEVER : iso(window.executedAt),
    ...targetMaps(targets),
  })
}

export function targetJson({ agentId, containerId, user, directory }: TransferTarget): string {
  return JSON.stringify({ agent_id: agentId, container_id: containerId, user, directory })
}

export function taskJson(
  taskId: string,
  createdAt: number,
  window: TransferWindow,
  { agentId, containerId, status }: Pick<WindowTarget, 'agentId' | 'containerId' | 'status'>,
): string {
  const { biz_id, app_id, job_id, file_path, file_name, file_signature } = fileOf(window)
  return JSON.stringify({
    task_id: taskId,
    biz_id,
    app_id,
    job_id,
    target_agent_id: agentId,
    target_container_id: containerId,
    file_path,
    file_name,
    file_signature,
    status,
    create_time: iso(createdAt),
  })
}
