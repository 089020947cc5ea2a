import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { register } from '../../src/domain/index.ts'
import type { EngineOptions } from '../../src/jobs/engine.ts'
import { Engine } from '../../src/jobs/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { AddressGuard, HttpClient, LOOPBACK_ONLY } from '../../src/net/index.ts'
import type { AccountParams } from '../../src/runs/feed/item-filter.ts'
import { openRuns, type Runs } from '../../src/runs/index.ts'
import type { AccountView, RunView, StateView } from '../../src/runs/run-view.ts'
import type { RunnerOptions } from '../../src/runs/runner.ts'
import { type Backend, type BackendName, openBackend, silentLog } from '../support/backends.ts'
import { groundOf } from '../support/ground.ts'

const quick = { base: 5, factor: 2, max: 20, jitter: 0 }

type RunKind = RunView['kind']

export type State = { seq: number } & StateView

/** A fresh backend and one folder for files, gone with the test, and instances on them. */
export async function setupRuns(ground: BackendName | Backend) {
  const backend = typeof ground === 'string' ? await openBackend(ground) : ground
  const folder = mkdtempSync(join(tmpdir(), 'wharf-accounts-'))
  const closers: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const close of closers.reverse()) await close()
    await backend.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    backend,
    folder,
    /** The finished files of an account, by name. */
    files: (handle: string) => filesIn(join(folder, handle)),
    async instance(options: Partial<RunnerOptions> = {}, engineOptions: Partial<EngineOptions> = {}) {
      const ledger = await backend.openLedger()
      const dispatcher = backend.openDispatcher()
      const bus = await backend.openBus()
      const net = new HttpClient({ guard: new AddressGuard(LOOPBACK_ONLY) }, { connectionsPerOrigin: 64 })
      const engine = new Engine(
        { ledger, dispatcher, bus, clock: systemClock, log: silentLog },
        { version: 'test', sole: !backend.shared, drainMs: 0, slots: { runs: 100 }, ...engineOptions },
      )
      const domain = await openRuns(groundOf({ engine, ledger, bus, net, clock: systemClock }), {
        folder,
        alone: !backend.shared,
        journalMs: 20,
        feed: { attempts: 3, backoff: quick },
        files: { attempts: 3, backoff: quick },
        ...options,
      })
      register(engine, domain)
      await engine.start()
      let closed = false
      const close = async () => {
        if (closed) return
        closed = true
        await engine.stop()
        await net.close()
        await dispatcher.close()
        await bus.close()
        await ledger.close()
      }
      closers.push(close)
      return new Instance(engine, domain.api, close)
    },
  }
}

/** One instance with words for what the tests do. */
export class Instance {
  readonly engine: Engine
  readonly runs: Runs
  readonly close: () => Promise<void>

  constructor(engine: Engine, runs: Runs, close: () => Promise<void>) {
    this.engine = engine
    this.runs = runs
    this.close = close
  }

  async put(handle: string, url: string, params: AccountParams = {}): Promise<void> {
    await this.engine.ledger.transaction((tx) => this.runs.putAccount(tx, handle, url, params))
  }

  async start(handle: string, kind: RunKind = 'start'): Promise<string> {
    const { runId } = await this.engine.ledger.transaction((tx) => this.runs.start(tx, handle, kind))
    return runId
  }

  cancel(runId: string, files: 'keep' | 'delete' = 'keep'): Promise<void> {
    return this.engine.ledger.transaction((tx) => this.runs.cancel(tx, runId, files))
  }

  limit(value: number): Promise<void> {
    return this.engine.ledger.transaction((tx) => this.runs.setMaxConcurrent(tx, value))
  }

  async account(handle: string): Promise<AccountView> {
    const found = (await this.runs.state()).accounts.find((account) => account.handle === handle)
    if (!found) throw new Error(`no account ${handle}`)
    return found
  }

  /** Resolves with the state as soon as it is as wanted; looks again after every event. */
  async until(matches: (state: State) => boolean): Promise<State> {
    const stop = new AbortController()
    let state = await this.runs.state()
    if (matches(state)) return state
    for await (const _ of this.engine.feed.follow(state.seq, {}, stop.signal)) {
      state = await this.runs.state()
      if (matches(state)) break
    }
    stop.abort()
    return state
  }

  async ended(runId: string): Promise<RunView> {
    const stop = new AbortController()
    for await (const _ of this.engine.feed.follow(0, { taskId: runId }, stop.signal)) {
      const run = await this.runs.run(runId)
      if (run.state !== 'Queued' && run.state !== 'Running') {
        stop.abort()
        return run
      }
    }
    throw new Error('the feed ended')
  }

  /** Starts a run and waits for its end. */
  async whole(handle: string, kind: RunKind = 'start'): Promise<RunView> {
    return this.ended(await this.start(handle, kind))
  }
}

export function filesIn(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]))
}
