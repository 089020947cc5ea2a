import { basename, dirname } from 'node:path'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { Carrier, TransferOrder, TransferResult, TransferTarget } from '../carrier.ts'
import { GseClient, type GseClientDeps, type GseOptions } from './gse-client.ts'
import { readRows } from './gse-rows.ts'

/** Has a GSE carry the files: its agent beside this server reads them from the local cache. */
export class GseCarrier implements Carrier {
  readonly #client: GseClient
  readonly #options: GseOptions

  constructor(deps: GseClientDeps, options: GseOptions) {
    this.#client = new GseClient(deps, options)
    this.#options = options
  }

  async start(order: TransferOrder, signal: AbortSignal): Promise<{ engineTaskId: string }> {
    const source = {
      file_name: basename(order.localPath),
      store_dir: dirname(order.localPath),
      agent: agent(this.#options.agentUser, this.#options.agentId, this.#options.containerId),
    }
    const data = await this.#client.call(
      'async_transfer_file',
      {
        timeout_seconds: order.timeoutSeconds,
        auto_mkdir: true,
        upload_speed: 0,
        download_speed: 0,
        tasks: byPlace(order.targets).map(({ directory, agents }) => ({
          source,
          target: { file_name: order.fileName, store_dir: directory, agents },
        })),
      },
      signal,
    )
    const taskId = (data as { result?: { task_id?: unknown } } | null)?.result?.task_id
    if (typeof taskId === 'string' && taskId !== '') return { engineTaskId: taskId }
    throw new AppError(ERRORS.TRANSFER_ENGINE_ANSWER, 'GSE accepted a task but gave it no id')
  }

  async result(engineTaskId: string, signal: AbortSignal): Promise<TransferResult> {
    return readRows(await this.#client.call('get_transfer_file_result', { task_id: engineTaskId }, signal))
  }

  async terminate(
    engineTaskId: string,
    targets: Pick<TransferTarget, 'agentId' | 'containerId'>[],
    signal: AbortSignal,
  ): Promise<void> {
    const agents = targets.map(({ agentId, containerId }) =>
      agent(this.#options.agentUser, agentId, containerId),
    )
    await this.#client.call('async_terminate_transfer_file', { task_id: engineTaskId, agents }, signal)
  }
}

/** One entry a directory and user, with all agents that share it. */
function byPlace(targets: TransferTarget[]) {
  const groups = Map.groupBy(targets, ({ directory, user }) => JSON.stringify([directory, user]))
  return [...groups.values()].map((group) => ({
    directory: group[0]?.directory ?? '',
    agents: group.map(({ user, agentId, containerId }) => agent(user, agentId, containerId)),
  }))
}

function agent(user: string, agentId: string, containerId: string) {
  return { user, bk_agent_id: agentId, bk_container_id: containerId }
}
