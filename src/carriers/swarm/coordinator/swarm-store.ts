import type { Place, PlaceOutcome } from '../wire/index.ts'

/** An agent with the places it puts the file to. A place without an outcome of its own ended as the agent did. */
export interface SwarmTarget {
  key: string
  agentId: string
  containerId: string
  places: (Place & Partial<PlaceOutcome>)[]
  /** 115 while it is open; 0 if the file is at one place at least. */
  code: number
  message: string
}

/** How a target ended, with the outcomes of its places where they differ. */
export type TargetEnd = Pick<SwarmTarget, 'key' | 'agentId' | 'containerId' | 'code' | 'message'> & {
  places?: SwarmTarget['places']
}

export interface SwarmTask {
  id: string
  localPath: string
  fileName: string
  manifest: string
  /** On whose behalf. */
  projectId: string
  /** The ledger's clock. */
  deadline: number
  /** Bytes that servers have sent for it, as far as it was written down. */
  egress: number
  targets: SwarmTarget[]
}

export interface SwarmAgent {
  agentId: string
  containerId: string
  instance: string
  host: string
  port: number
  version: string
  connectedAt: number
  seenAt: number
}

/** An agent that may connect. */
export interface EnrolledAgent {
  agentId: string
  containerId: string
  enrolledAt: number
  /** When a line of it last began or ended; null: it never had one. */
  lastSeenAt: number | null
  lastVersion: string | null
}

/** What of the swarm must survive a server: tasks with their manifests and results, and who is connected where. */
export interface SwarmStore {
  addTask(
    task: Omit<SwarmTask, 'deadline' | 'egress'> & { coordinator: string },
    timeoutMs: number,
  ): Promise<{ deadline: number }>
  task(id: string): Promise<SwarmTask | undefined>
  /** From now on this instance coordinates the task, and no other. */
  takeTask(id: string, coordinator: string): Promise<void>
  /** Those of the tasks that this instance coordinates. */
  coordinatedBy(coordinator: string, ids: readonly string[]): Promise<Set<string>>
  /** Those of the tasks that are not over: targets are open, and there is time left. */
  openTasks(ids: readonly string[]): Promise<Set<string>>
  /**
   * Keeps how targets ended; the first end of a target is the one that stays. False, and nothing kept, if another
   * instance coordinates the task.
   */
  keepResults(taskId: string, results: TargetEnd[], coordinator: string): Promise<boolean>
  keepEgress(taskId: string, bytes: number): Promise<void>
  now(): Promise<number>
  /** Forgets tasks whose deadline was this long ago. */
  sweep(olderThanMs: number): Promise<void>

  agentConnected(agent: Omit<SwarmAgent, 'connectedAt' | 'seenAt'>): Promise<void>
  /** Only if it is still connected to this instance: it may already be at another. */
  agentGone(key: Pick<SwarmAgent, 'agentId' | 'containerId' | 'instance'>): Promise<void>
  agentsGone(instance: string): Promise<void>
  /** Says that the agents of this instance are still there; returns which ones are noted. */
  agentsSeen(instance: string): Promise<Pick<SwarmAgent, 'agentId' | 'containerId'>[]>
  /** Agents that were seen within this time. */
  agents(withinMs: number): Promise<SwarmAgent[]>
  /** Agents that were enrolled and not revoked, connected or not. */
  enrolled(): Promise<EnrolledAgent[]>
  /** The keys of these agents by what they are; one that is neither is not known. A revoked one is known for a few days. */
  standing(
    agents: readonly Pick<SwarmAgent, 'agentId' | 'containerId'>[],
  ): Promise<Map<string, 'enrolled' | 'revoked'>>
}
