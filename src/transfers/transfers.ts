import type { Static } from 'typebox'
import type { AgentName, EnrolledAgent, SwarmAgent } from '../carriers/index.ts'
import { type Engine, Gather } from '../jobs/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'
import type { Ledger, Tx } from '../ledger/index.ts'
import type { Permissions } from './repository/permissions.ts'
import type { FileListOptions, Repository } from './repository/repository.ts'
import { hashOf } from './transfer-keys.ts'
import { type ExportFile, type JoinRequest, readRequest, type TransferBody } from './transfer-request.ts'
import { type AgentView, mergeAgents, toAgentView } from './views/agent-view.ts'
import { type JobListOptions, TransferList } from './views/transfer-list.ts'
import { noTransfer, TransferQueries } from './views/transfer-queries.ts'
import type { Redelivery, RepositoryFile } from './views/transfer-schemas.ts'
import type { TransferJobView, TransferTaskView } from './views/transfer-view.ts'
import {
  type Joined,
  PlacesTaken,
  WindowJoin,
  type WindowJoinDeps,
  type WindowStore,
} from './windows/index.ts'

export interface TransfersDeps extends WindowJoinDeps {
  engine: Engine
  ledger: Ledger
  permissions: Permissions
  repository: Repository
  windows: WindowStore
  agents: Agents
  /** A finished export's file, or the reason why there is none. */
  exportFile(taskId: string): Promise<ExportFile>
}

/** The agents of the swarm. */
interface Agents {
  /** Those that are connected to any instance. */
  agents(): Promise<SwarmAgent[]>
  /** Those that were enrolled and not revoked, connected or not. */
  enrolled(): Promise<EnrolledAgent[]>
  invite(tx: Tx, name: AgentName): Promise<{ token: string; expiresAt: number }>
  /** False if it was not enrolled. */
  revoke(tx: Tx, name: AgentName): Promise<boolean>
}

/** A join is small, and its transaction has five round trips however many there are. */
const JOINS_A_TRANSACTION = 250

/** Everything that can be asked of transfers; transports only translate. */
export class Transfers {
  readonly #deps: TransfersDeps
  readonly #join: WindowJoin
  readonly #joins: Gather<JoinRequest, Joined>
  readonly #queries: TransferQueries
  readonly #list: TransferList

  constructor(deps: TransfersDeps, options: { windowSeconds: number }) {
    this.#deps = deps
    this.#join = new WindowJoin(deps, options)
    this.#joins = new Gather((requests) => this.#joinAll(requests), { maxBatch: JOINS_A_TRANSACTION })
    this.#queries = new TransferQueries(deps.ledger)
    this.#list = new TransferList(deps.ledger, options)
  }

  /** Takes a request into the open window. Committed when it resolves; shares its transaction with others. */
  async request(projectId: string, body: TransferBody, onJoined?: JoinRequest['onJoined']): Promise<Joined> {
    return this.#joins.add({ ...(await readRequest(projectId, body, this.#deps.exportFile)), onJoined })
  }

  /** Requests for a place that has another owner are refused, and the others are written without them. */
  async #joinAll(requests: JoinRequest[]): Promise<(Joined | AppError)[]> {
    const refused = new Map<JoinRequest, AppError>()
    for (;;) {
      const wanted = requests.filter((request) => !refused.has(request))
      const join = (tx: Tx) => this.#join.join(tx, wanted)
      try {
        const joined = wanted.length === 0 ? [] : await this.#deps.ledger.transaction(join)
        const outcomes = new Map(wanted.map((request, index) => [request, joined[index]]))
        return requests.map((request) => refused.get(request) ?? (outcomes.get(request) as Joined | AppError))
      } catch (error) {
        if (!(error instanceof PlacesTaken)) throw error
        for (const request of error.requests) refused.set(request, error)
      }
    }
  }

  /** The same in the caller's own transaction. */
  async requestIn(
    tx: Tx,
    projectId: string,
    body: TransferBody,
    onJoined?: JoinRequest['onJoined'],
  ): Promise<Joined> {
    const request = await readRequest(projectId, body, this.#deps.exportFile)
    const [outcome] = await this.#join.join(tx, [{ ...request, onJoined }])
    if (outcome instanceof AppError) throw outcome
    return outcome as Joined
  }

  task(taskId: string): Promise<TransferTaskView> {
    return this.#queries.task(taskId)
  }

  job(jobId: string): Promise<TransferJobView> {
    return this.#queries.job(jobId)
  }

  jobs(options: JobListOptions) {
    return this.#list.jobs(options)
  }

  /** Stops a job for all its open targets. */
  async cancel(jobId: string): Promise<void> {
    const window = await this.#deps.windows.find(hashOf(jobId))
    if (window?.jobId == null) {
      // Throws where there is no such job.
      await this.job(jobId)
      return
    }
    await this.#deps.ledger.transaction((tx) => this.#deps.engine.cancelJob(tx, window.jobId as string))
  }

  /**
   * Asks again for every target that did not get the file, in the window that is open now. The same file: a path that
   * was replaced meanwhile keeps its older version for a while.
   */
  async redeliver(tx: Tx, jobId: string): Promise<Static<typeof Redelivery>> {
    const { windows } = this.#deps
    const window = await windows.find(hashOf(jobId))
    if (!window) throw noTransfer('job', jobId)
    const failed = (await windows.targets(window.id, tx.db)).filter(
      ({ status }) => status === 'Failed' || status === 'Timeout',
    )
    if (failed.length === 0)
      throw new AppError(ERRORS.NOTHING_FAILED, 'no target of this delivery has failed')
    const { projectId, bizId, appId, fullPath, fileName, signature, artifactKey } = window
    const requests = failed.map(({ agentId, containerId, user, directory }) => ({
      ...{ projectId, bizId, appId, fullPath, fileName, signature, artifactKey },
      target: { agentId, containerId, user, directory },
    }))
    const outcomes: (Joined | AppError)[] = []
    for (let from = 0; from < requests.length; from += JOINS_A_TRANSACTION)
      outcomes.push(...(await this.#join.join(tx, requests.slice(from, from + JOINS_A_TRANSACTION))))
    const joined = outcomes.filter((outcome): outcome is Joined => !(outcome instanceof AppError))
    const refused = outcomes.flatMap((outcome, index) => {
      if (!(outcome instanceof AppError)) return []
      const { agentId, containerId } = requests[index]!.target
      return [{ agent_id: agentId, container_id: containerId, code: outcome.code, detail: outcome.message }]
    })
    const last = joined.at(-1)
    // Nothing is written then: what holds for all of them is the answer.
    if (!last) throw outcomes[0] as AppError
    return { job_id: last.jobId, targets: joined.length, refused }
  }

  putFile(
    projectId: string,
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    length: number | null = null,
  ): Promise<RepositoryFile> {
    return this.#deps.repository.put(projectId, path, bytes, signal, length)
  }

  files(options: FileListOptions) {
    return this.#deps.repository.list(options)
  }

  /** Every agent that is enrolled, connected or not, for who may revoke them; a GSE's agents are not enrolled here. */
  async allAgents(): Promise<AgentView[]> {
    const { agents } = this.#deps
    const [connected, enrolled] = await Promise.all([agents.agents(), agents.enrolled()])
    return mergeAgents(connected, enrolled)
  }

  /** The connected agents that a project may send to. */
  async connectedAgents(projectId: string): Promise<AgentView[]> {
    const { permissions } = this.#deps
    const [agents, isAllowed] = await Promise.all([
      this.#deps.agents.agents(),
      permissions.ofProject(projectId),
    ])
    return agents.filter(({ agentId }) => isAllowed(agentId)).map((agent) => toAgentView(agent))
  }

  /** A token that enrols this agent once. */
  inviteAgent(tx: Tx, name: AgentName): Promise<{ token: string; expiresAt: number }> {
    return this.#deps.agents.invite(tx, name)
  }

  /** Ends what an agent may do. It can come back only by being enrolled again. */
  async revokeAgent(name: AgentName): Promise<void> {
    const wasEnrolled = await this.#deps.ledger.transaction((tx) => this.#deps.agents.revoke(tx, name))
    if (!wasEnrolled)
      throw new AppError(ERRORS.AGENT_NOT_FOUND, `there is no agent ${name.agentId} to revoke`)
  }

  /** The agents a project may send to; null: all. */
  agentsOf(projectId: string): Promise<string[] | null> {
    return this.#deps.permissions.agents(projectId)
  }

  setAgents(tx: Tx, projectId: string, patterns: string[] | null): Promise<void> {
    return this.#deps.permissions.setAgents(tx, projectId, patterns)
  }
}
