/** Resolves once the first signal's work is done; a second signal ends the process at once. */
export function untilSignal(drain: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let draining = false
    const onSignal = () => {
      if (draining) process.exit(130)
      draining = true
      drain().then(resolve, reject)
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  })
}
