import { startProcessor } from '../compose-processor.ts'
import { loadConfig } from '../config.ts'
import { untilSignal } from './until-signal.ts'

/** Runs PROCESSOR_COMMAND on tasks until a signal: the first one lets running commands finish, a second one ends at once. */
export async function runProcessor(): Promise<void> {
  const stop = await startProcessor(loadConfig(process.env))
  const stopped = untilSignal(async () => {
    console.error('wharf: running commands may finish; send the signal again to stop at once')
    await stop()
  })
  console.log('wharf is waiting for tasks')
  await stopped
}
