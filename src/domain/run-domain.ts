import type { Engine } from '../jobs/index.ts'
import { type Clock, DutyLoop, type Log, type Part } from '../kernel/index.ts'
import type { Domain } from './domain.ts'

/** Registers a domain's kinds and leader duties with the engine. To be called before the engine starts. */
export function register(engine: Engine, { kinds, duties }: Pick<Domain, 'kinds' | 'duties'>): void {
  for (const kind of kinds) engine.define(kind)
  for (const { duty, everyMs, runs } of duties) if (runs === 'leader') engine.addLeaderDuty(duty, everyMs)
}

/** A domain with its local duties, to be started before the engine and stopped after it. */
export function partOf(domain: Domain, deps: { clock: Clock; log: Log }): Part {
  const loops = domain.duties
    .filter(({ runs }) => runs === 'local')
    .map(({ duty, everyMs }) => new DutyLoop(duty, deps, { everyMs }))
  return {
    name: domain.name,
    async start() {
      await domain.start?.()
      for (const loop of loops) loop.start()
    },
    drain: async (until) => domain.drain?.(until),
    disconnect: async (until) => domain.disconnect?.(until),
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      await domain.stop()
    },
  }
}
