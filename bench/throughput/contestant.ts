import type { Services } from '../services.ts'

/** How many jobs each contestant has in hand at once, when it takes them in and when it works on them. */
export const CONCURRENCY = 32

export interface Contestant {
  name: string
  /** What is safe when the power goes the moment a job was accepted. */
  durable: string
  /** Opens producer and worker; the worker takes nothing before `work`. `done` is called once a job. */
  open(services: Services, done: () => void): Promise<Opened>
}

export interface Opened {
  enqueue(): Promise<void>
  work(): Promise<void>
  /** Resolves when the end of every job is written, where `done` is called before that. */
  settled?(): Promise<void>
  close(): Promise<void>
}
