/** Messages between instances. */
export interface Topics {
  /** A running job should stop. */
  cancel: { jobId: string }
  /** A job that this worker has left something of may start. */
  home: { jobId: string; pool: string; worker: string }
  /** There are new events. */
  events: Record<string, never>
  /** This instance has listeners for new events, for the given time. */
  listening: { forMs: number }
  /** Instances that want to hear of new events say so again. */
  'who-listens': Record<string, never>
  /** A setting or limit was changed. */
  settings: { key: string }
  /** A key or project was ended. */
  keys: Record<string, never>
  /** There are new tasks for processors. */
  processing: Record<string, never>
  /** Agents of the swarm are connected to one instance and may be needed by another. */
  swarm: { from: string; about: string; message: unknown }
}

export type Topic = keyof Topics

/**
 * Reaches all instances, this one included, within a second. A hint, never the truth: a message may be lost when the
 * carrier goes away or comes back, so a listener must find the same thing in the ledger later by itself.
 */
export interface Bus {
  publish<T extends Topic>(topic: T, message: Topics[T]): void
  /** Returns the function that ends the subscription. */
  subscribe<T extends Topic>(topic: T, listener: (message: Topics[T]) => void): () => void
  close(): Promise<void>
}
