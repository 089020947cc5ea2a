import { onTestFinished } from 'vitest'
import type { EngineOptions } from '../../src/jobs/engine.ts'
import { Engine, type JobKind } from '../../src/jobs/index.ts'
import { type Clock, systemClock } from '../../src/kernel/index.ts'
import { type Backend, type BackendName, openBackend, silentLog } from './backends.ts'

/** A fresh backend that is gone with the test, and instances on it. */
export async function setup(name: BackendName) {
  const backend = await openBackend(name)
  const closers: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const close of closers.reverse()) await close()
    await backend.remove()
  })
  return {
    backend,
    /** One instance, started. Kinds are given as data because they must be defined before the start. */
    async instance(
      kinds: JobKind<never, unknown>[],
      options: Partial<EngineOptions> & { clock?: Clock } = {},
    ) {
      const opened = await openInstance(backend, kinds, options)
      closers.push(opened.close)
      return opened
    },
  }
}

async function openInstance(
  backend: Backend,
  kinds: JobKind<never, unknown>[],
  { clock = systemClock, ...options }: Partial<EngineOptions> & { clock?: Clock } = {},
) {
  const ledger = await backend.openLedger(clock)
  const dispatcher = backend.openDispatcher()
  const bus = await backend.openBus()
  const engine = new Engine(
    { ledger, dispatcher, bus, clock, log: silentLog },
    { version: 'test', sole: !backend.shared, drainMs: 0, ...options },
  )
  for (const kind of kinds) engine.define(kind)
  await engine.start()
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await engine.stop()
    await dispatcher.close()
    await bus.close()
    await ledger.close()
  }
  return { engine, ledger, dispatcher, bus, close }
}

/** Resolves with the first event that matches, also one that has already happened. */
export async function eventually(
  engine: Engine,
  matches: (event: { type: string; taskId: string | null; data: Record<string, unknown> }) => boolean,
): Promise<Record<string, unknown>> {
  const stop = new AbortController()
  for await (const events of engine.feed.follow(0, {}, stop.signal)) {
    const found = events.find(matches)
    if (found) {
      stop.abort()
      return found.data
    }
  }
  throw new Error('the feed ended')
}

export function gate<T = void>() {
  let open!: (value: T) => void
  const passed = new Promise<T>((resolve) => (open = resolve))
  return { open, passed }
}
