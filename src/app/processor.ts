import type { Config } from '../config.ts'
import { AppError, type Clock, createLog, ERRORS, Lifecycle, systemClock } from '../kernel/index.ts'
import { openStandaloneProcessor } from '../processing/index.ts'
import { processorSettings, taskOptions } from './domains/processing.ts'
import { openTraces } from './ground/traces.ts'

/** `wharf process`: works on tasks, makes none. Resolves when it takes tasks; the answer stops it. */
export async function startProcessor(
  config: Config,
  clock: Clock = systemClock,
): Promise<() => Promise<void>> {
  const log = createLog({ level: config.WHARF_LOG_LEVEL })
  const { redis, ...rest } = taskOptions(config)
  const processor = processorSettings(config)
  if (redis === null)
    throw new AppError(
      ERRORS.CONFIG_INVALID,
      "'wharf process' needs REDIS_URL; without Redis, 'wharf serve' runs PROCESSOR_COMMAND itself",
    )
  if (processor === null) throw new AppError(ERRORS.CONFIG_INVALID, 'PROCESSOR_COMMAND must be set')
  const lifecycle = new Lifecycle(log, { drainMs: processor.drainMs })
  await lifecycle.start(await openTraces(config, log))
  await lifecycle.start([await openStandaloneProcessor({ clock, log }, { ...rest, redis, processor })])
  return () => lifecycle.stop()
}
