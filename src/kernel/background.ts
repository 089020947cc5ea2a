import { unforeseen } from './unforeseen.ts'

/**
 * Starts work that nobody waits for and that should not fail: a failure is logged and counted, and the process goes on.
 * `what` names the work in the log.
 */
export function background(what: string, work: Promise<unknown>): void {
  // biome-ignore lint/plugin: this is the one place.
  work.catch((error: unknown) => unforeseen(what, error))
}

/** Starts work that nobody waits for and that may fail, as when something is away; `failed` deals with that. */
export function bestEffort(
  work: Promise<unknown>,
  failed: (error: unknown) => unknown = () => undefined,
): void {
  background('dealing with a failure', work.catch(failed))
}

/** For work that is awaited at another time, or not at all once something else has failed: until then nobody hears of its failure. */
export function awaitedLater<T>(work: Promise<T>): Promise<T> {
  bestEffort(work)
  return work
}
