import type { Statement } from '../../statement-counter.ts'

/** Where one instance connects to. Each instance opens connections of its own. */
export interface Ground {
  databaseUrl: string
  redisUrl: string
  /** This instance's number, and how many there are. */
  index: number
  total: number
}

/** One instance of one of the engines that are compared. */
export interface Instance {
  /** Writes one task and wakes its workers; `committed` is called the moment the commit is answered. */
  enqueue(committed: () => void): Promise<string>
  close(): Promise<void>
}

export interface Subject {
  name: string
  /** Prepares an empty database, once for all instances. */
  prepare(databaseUrl: string): Promise<void>
  /** `started` is called with a task's id when its handler starts. */
  open(ground: Ground, started: (id: string) => void): Promise<Instance>
  /** How often an instance went for a task that it did not get, read from what the servers counted. */
  lostRaces(statements: readonly Statement[], commands: ReadonlyMap<string, number>): number
  /** Seconds that a look at the idle instances takes: at least one period of everything that ticks. */
  idleSeconds: number
}
