import { startProcessor } from '../app/processor.ts'
import { loadConfig } from '../config.ts'
import { createLog } from '../kernel/index.ts'
import { guardProcess } from './terminal/guard-process.ts'
import { untilSignal } from './terminal/until-signal.ts'

/** Runs PROCESSOR_COMMAND on tasks until a signal: the first one lets running commands finish, a second one ends at once. */
export async function runProcessor(): Promise<void> {
  const config = loadConfig(process.env)
  const guard = guardProcess(createLog({ level: config.WHARF_LOG_LEVEL }))
  const stop = await startProcessor(config)
  guard.drainBy(stop, { withinMs: config.WHARF_DRAIN_SECONDS * 1000 })
  const stopped = untilSignal(async () => {
    console.error('wharf: running commands may finish; send the signal again to stop at once')
    await stop()
  })
  console.error('wharf is waiting for tasks')
  await stopped
}
