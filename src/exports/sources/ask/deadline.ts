import { type Clock, follow, orAborted } from '../../../kernel/index.ts'

/** One reason for all: making a new one for each page costs a stack trace. */
const DONE = new Error('the work is done')

/** Runs `work` with a signal that aborts with the caller's, or with `late()` once `ms` have passed. */
export async function withDeadline<T>(
  clock: Clock,
  { ms, signal, late }: { ms: number; signal: AbortSignal; late: () => Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const cut = new AbortController()
  const timer = new AbortController()
  const unfollow = follow(signal, cut)
  clock.sleep(ms, timer.signal).then(
    () => cut.abort(late()),
    () => undefined,
  )
  try {
    return await orAborted(work(cut.signal), cut.signal)
  } catch (error) {
    throw cut.signal.aborted ? cut.signal.reason : error
  } finally {
    unfollow()
    timer.abort(DONE)
    cut.abort(DONE)
  }
}
