import type { Clock } from '../../kernel/index.ts'

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
  const onAbort = () => cut.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  clock.sleep(ms, timer.signal).then(
    () => cut.abort(late()),
    () => undefined,
  )
  // Work that does not listen to its signal must not hold us up.
  const aborted = new Promise<never>((_, reject) => {
    cut.signal.addEventListener('abort', () => reject(cut.signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(cut.signal), aborted])
  } catch (error) {
    throw cut.signal.aborted ? cut.signal.reason : error
  } finally {
    signal.removeEventListener('abort', onAbort)
    timer.abort(DONE)
    cut.abort(DONE)
  }
}
