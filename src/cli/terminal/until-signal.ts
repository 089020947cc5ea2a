/**
 * Ctrl-C reaches every process of the terminal, and once more through those that pass it on: npm, and an older Node that
 * started this one. What comes this soon after the first is the same key press.
 */
const SAME_KEY_PRESS_MS = 500

/** Runs `drain` at the first signal and resolves after it; a second signal ends the process at once. */
export function untilSignal(drain: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let first: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      const now = performance.now()
      if (first !== undefined) {
        if (signal === 'SIGINT' && now - first < SAME_KEY_PRESS_MS) return
        process.exit(130)
      }
      first = now
      drain().then(resolve, reject)
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  })
}
