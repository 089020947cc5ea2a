import { unforeseen } from './unforeseen.ts'

/**
 * The one way to start work that nobody waits for: if it fails, that is told and counted, and the process goes on.
 * `what` names the work in the log.
 */
export function background(what: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => unforeseen(what, error))
}
