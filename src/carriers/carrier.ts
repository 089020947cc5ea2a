/** A place that a file is put to: an agent's host, or one of its containers. */
export interface TransferTarget {
  agentId: string
  /** Empty: the host itself. */
  containerId: string
  /** Owner of the file on the target. */
  user: string
  directory: string
}

export interface TransferOrder {
  /** On whose behalf. */
  projectId: string
  /** The file in this instance's local cache, complete and checked. */
  localPath: string
  fileName: string
  size: number
  /** SHA-256, hexadecimal. */
  signature: string
  targets: TransferTarget[]
  timeoutSeconds: number
}

/** The state of one target. 0: done, 115: downloading, anything else: failed. */
export interface TargetResult {
  agentId: string
  containerId: string
  /** Where the file was to go, if the carrier says so; without it the result holds for every directory of the agent. */
  directory?: string
  errorCode: number
  errorMessage: string
  /** Percent, while it downloads. */
  progress: number
  /** False while the carrier waits for the agent to connect; left out by carriers that do not know. */
  connected?: boolean
}

export interface TransferResult {
  /** Set when the source itself failed, which fails every target. */
  uploadError: { code: number; message: string } | null
  /** Targets that the carrier has reported so far; others are still to come. */
  targets: TargetResult[]
  /** Bytes of this task that the server itself has sent, over all instances; left out by carriers that do not know. */
  egress?: number
}

/**
 * Carries one file to many targets. An order becomes a task of the carrier's own, whose id outlives this process: after
 * a restart, or on another instance, `result` and `terminate` go on with the same id.
 */
export interface Carrier {
  start(order: TransferOrder, signal: AbortSignal): Promise<{ engineTaskId: string }>
  result(engineTaskId: string, signal: AbortSignal): Promise<TransferResult>
  /** Ends the task for these targets; safe to repeat. */
  terminate(
    engineTaskId: string,
    targets: Pick<TransferTarget, 'agentId' | 'containerId'>[],
    signal: AbortSignal,
  ): Promise<void>
}
