import { AppError, type Backoff, DEFAULT_BACKOFF, ERRORS, type Log, type WaitsOn } from '../kernel/index.ts'
import type { Tx } from '../ledger/index.ts'
import type { Job } from './job.ts'
import { jobMeter } from './overview/index.ts'
import { OUTAGE_BACKOFF, type WaitingFor } from './waiting-for.ts'

/** What a handler gets to see of the engine while it works on one job. */
export interface JobContext<P = unknown> {
  readonly job: Job<P>
  /** Aborts on cancel, time-out, shutdown and when the lease is lost; `signal.reason` says which. */
  readonly signal: AbortSignal
  readonly log: Log
  /** Reports progress. Cheap: written at most about twice a second, the last value always. */
  progress(value: unknown): void
  /** A transaction that goes through only while this worker still holds the job. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Whether another job waits for the place that this one holds in its lane. */
  othersWait(): Promise<boolean>
  /** Whether the job ends, without another attempt, if this claim ends with `error`. */
  isFinal(error: unknown): boolean
}

/** Wrap a handler's result in this to write more in the very transaction that ends the job. */
export class Completed<R> {
  readonly result: R
  readonly commit: (tx: Tx) => Promise<void>

  constructor(result: R, commit: (tx: Tx) => Promise<void>) {
    this.result = result
    this.commit = commit
  }
}

/** What happened to a job, for the words of its event. */
export interface Change {
  what: 'pending' | 'running' | 'progress' | 'succeeded' | 'failed' | 'cancelled'
  progress?: unknown
  result?: unknown
  error?: { code: string; message: string }
  /** Why a job is pending again. */
  waitingFor?: Pick<WaitingFor, 'what' | 'code' | 'message'>
}

/** Of which job something happened, for the words of its event. */
export type Described<P = unknown> = Pick<Job<P>, 'owner' | 'payload' | 'startedAt'>

/** The end of a job for all its tasks, or of one task alone. */
export interface Ended {
  jobId: string
  taskId?: string
  change: Change
}

export interface Lane {
  name: string
  /** How many jobs of the lane may be admitted at once over all instances; null: no limit. */
  limit: number | null | { perInstance: number }
  /** fifo: first come, first served. fair: next is the owner with the fewest admitted jobs, of equals the one who has waited longest for a turn. */
  policy: 'fifo' | 'fair'
  /** Places beyond the limit of a fair lane that only an owner without any may take: no owner can hold them all. */
  reserve?: number
}

export interface JobKind<P = unknown, R = unknown> {
  name: string
  /** Whose work it is, in the metrics; `other` when missing. */
  domain?: string
  run(context: JobContext<P>): Promise<R | Completed<R>>
  /** Jobs of one pool share the slots of a process. */
  pool?: string
  /** Slots of its pool in each process; the engine's default when no kind of the pool says so. */
  slots?: number
  lane?: Lane
  /** How often the handler may fail. */
  maxAttempts?: number
  /** How often a worker may die over it. */
  maxCrashes?: number
  timeoutMs?: number
  backoff?: Backoff
  /** Pauses while a part of the installation is away. They use up no attempt, and do not count towards `timeoutMs`. */
  outageBackoff?: Backoff
  /**
   * The failure that an outage becomes when the job has waited long enough for it; undefined: it waits on. `progress` is
   * the last that this claim reported.
   */
  givesUp?(outage: AppError, job: Job<P>, progress: unknown): AppError | undefined
  /** What a job that failed with this error waits for until it is tried again, if its task's view is to say so. */
  blames?(error: AppError): WaitsOn | null
  /**
   * An attempt leaves what it has done on its instance's disk: a job that is put back is that instance's to take, until it is gone or
   * the leader publishes the job again.
   */
  goesOnAtHome?: boolean
  /** How long rows stay after the end. */
  keepMs?: number
  /** The event that a change appends for each task of the job. */
  describe?(change: Change, job: Described<P>): { type: string; data: Record<string, unknown> }
  /** Called in the transaction that ends the job, or takes one task out of it: what must follow is enqueued here. */
  onEnded?(tx: Tx, ended: Ended): Promise<void>
  /** Called before the rows of an ended job are deleted; must be safe to repeat. */
  onDelete?(job: Job<P>): Promise<void>
}

type Optional = 'slots' | 'lane' | 'timeoutMs' | 'onDelete' | 'onEnded'
export type DefinedKind = Required<Omit<JobKind, Optional>> & Pick<JobKind, Optional>

const WEEK = 7 * 24 * 3_600_000

/** `pending` and `running` are called `pending` and `processing` on the wire. */
function describePlainly(kind: string, change: Change): { type: string; data: Record<string, unknown> } {
  const { what, waitingFor, ...rest } = change
  const status = what === 'running' || what === 'progress' ? 'processing' : what
  const data = { status, ...rest, ...(waitingFor && { waiting_for: waitingFor }) }
  return { type: `${kind}.${what === 'running' ? 'processing' : what}`, data }
}

export class KindRegistry {
  readonly #kinds = new Map<string, DefinedKind>()

  define<P, R>(kind: JobKind<P, R>): void {
    if (this.#kinds.has(kind.name)) throw new Error(`the kind '${kind.name}' is defined twice`)
    const defined = {
      domain: 'other',
      pool: 'default',
      maxAttempts: 3,
      maxCrashes: 10,
      backoff: DEFAULT_BACKOFF,
      outageBackoff: OUTAGE_BACKOFF,
      goesOnAtHome: false,
      keepMs: WEEK,
      blames: () => null,
      givesUp: () => undefined,
      describe: (change: Change) => describePlainly(kind.name, change),
      ...kind,
    }
    // A kind's handler only ever sees payloads that were enqueued for it.
    this.#kinds.set(kind.name, defined as unknown as DefinedKind)
    jobMeter.known(defined)
  }

  get(name: string): DefinedKind {
    const kind = this.#kinds.get(name)
    if (!kind) throw new AppError(ERRORS.JOB_KIND_UNKNOWN, `no handler is defined for jobs of kind '${name}'`)
    return kind
  }

  names(): string[] {
    return [...this.#kinds.keys()]
  }

  all(): DefinedKind[] {
    return [...this.#kinds.values()]
  }
}
