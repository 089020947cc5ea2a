/** By then whatever listens to the signal has put on disk what it has. */
const GRACE_MS = 1_000

/** Thrown when a person interrupts a command; the exit code names the signal, as shells expect. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitCode: number

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`stopped by ${signal}`)
    this.exitCode = signal === 'SIGINT' ? 130 : 143
  }
}

/**
 * A signal that aborts on Ctrl-C. A second Ctrl-C changes nothing: started through npm or an older Node, one key press
 * arrives twice, and the grace is short anyway.
 */
export function interruptible(onInterrupt: () => void): { signal: AbortSignal; done(): void } {
  const abort = new AbortController()
  const interrupt = (name: 'SIGINT' | 'SIGTERM') => {
    if (abort.signal.aborted) return
    const reason = new Interrupted(name)
    onInterrupt()
    abort.abort(reason)
    setTimeout(() => process.exit(reason.exitCode), GRACE_MS).unref()
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt)
  return {
    signal: abort.signal,
    done: () => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt)
    },
  }
}
