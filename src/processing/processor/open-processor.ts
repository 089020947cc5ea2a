import type { Clock, Log, Part } from '../../kernel/index.ts'
import { openLink } from '../open-store.ts'
import type { ProcessorSettings } from '../processing-options.ts'
import type { RedisTaskQueue } from '../redis/redis-queue.ts'
import { Processor } from './processor.ts'
import { processorCommand } from './run-command.ts'

/** A processor that has died is missed after `aliveMs`; it says that it is alive several times within that. */
const TOUCHES_PER_LIFE = 6

export function openProcessor(
  deps: { queue: RedisTaskQueue; clock: Clock; log: Log },
  settings: ProcessorSettings,
  aliveMs: number,
): Processor {
  const command = processorCommand(settings.command)
  return new Processor(deps, { ...settings, command, touchMs: aliveMs / TOUCHES_PER_LIFE })
}

export interface StandaloneOptions {
  redis: { url: string; prefix: string }
  queueKey: string
  ttlDays: number
  aliveMs: number
  processor: ProcessorSettings
}

/** A processor in a process of its own, which knows nothing but Redis and the disk it shares with the server. */
export async function openStandaloneProcessor(
  deps: { clock: Clock; log: Log },
  options: StandaloneOptions,
): Promise<Part> {
  const { RedisTaskQueue } = await import('../redis/redis-queue.ts')
  const link = await openLink(deps.log, options)
  const { concurrency } = options.processor
  const queue = new RedisTaskQueue({ ...deps, link }, { slots: concurrency, aliveMs: options.aliveMs })
  const processor = openProcessor({ ...deps, queue }, options.processor, options.aliveMs)
  return {
    name: 'processor',
    async start() {
      await link.ready()
      await processor.start()
    },
    drain: (until) => processor.drain(until),
    async stop() {
      await processor.stop()
      link.close()
    },
  }
}
