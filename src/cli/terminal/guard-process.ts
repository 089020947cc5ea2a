import { type Log, tellUnforeseenTo, unforeseen } from '../../kernel/index.ts'

/**
 * What a long-running command does about faults of its own. An unhandled rejection is logged and counted, and the
 * process goes on. After an exception that nobody caught its state is unknown: it drains and ends with 1; at once if
 * there is nothing to drain yet, if a second one comes, or if the drain takes longer than `drainBy` allows.
 */
export function guardProcess(log: Log): {
  drainBy(drain: () => Promise<void>, options: { withinMs: number }): void
} {
  tellUnforeseenTo(log)
  let end = (): void => process.exit(1)
  process.on('unhandledRejection', (reason) => unforeseen('a promise was rejected, and nobody cared', reason))
  process.on('uncaughtException', (error) => {
    unforeseen('an exception that nobody caught', error)
    process.exitCode = 1
    end()
  })
  return {
    drainBy(drain, { withinMs }) {
      const endAtOnce = end
      end = () => {
        end = endAtOnce
        setTimeout(endAtOnce, withinMs)
        drain().then(endAtOnce, endAtOnce)
      }
    },
  }
}
