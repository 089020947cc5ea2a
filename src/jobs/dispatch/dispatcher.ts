/** "There is something to do": the id of a job, never the work itself. */
export interface Wake {
  id: string
  /** Which slots of a process the job takes. */
  pool: string
  /** When to wake, counted from now. */
  delayMs: number
  /** One consumer may get several of these at once. */
  light?: boolean
}

export interface Consumer {
  /** Takes this id as soon as it has a free slot, before those that anybody may take. */
  offer(id: string): void
  /** Takes no further ids; ids already handed over are not waited for. */
  stop(): Promise<void>
}

/** `offered`: nobody has published the id to this consumer. */
export type Take = (id: string, offered?: boolean) => Promise<void>

/** Ids of at most `limit` jobs that could start now, as the ledger knows them. */
export type DueIds = (limit: number) => Promise<string[]>

/**
 * Carries ids to workers. Each published wake reaches exactly one consumer, in order of publishing, and costs the same
 * however many consumers wait. It may lose or double a wake: the ledger's claim refuses the second, and the leader
 * publishes again what is overdue.
 */
export interface Dispatcher {
  /** Rejects when the carrier is away; the caller may then forget about it, for the same reason. */
  publish(wakes: readonly Wake[]): Promise<void>
  /**
   * Hands out ids while fewer than `slots` calls of `take` are under way. While the carrier is away, it asks the ledger
   * through `due` instead.
   */
  consume(pool: string, slots: number, take: Take, due?: DueIds): Consumer
  /** True once after the carrier lost what it was given (a restart without its memory). */
  forgot(): Promise<boolean>
  close(): Promise<void>
}
