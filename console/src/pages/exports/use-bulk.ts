import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type BulkAction, changeExports, type ExportFilter } from '../../api/exports.ts'
import { Problem } from '../../api/problem.ts'

/** What was chosen: some by their ids, or all that match. */
export type Chosen = { ids: readonly string[] } | { filter: ExportFilter; count: number; exact: boolean }

export interface Bulk {
  action: BulkAction
  chosen: Chosen
  /** `wait`: it can still be undone. */
  phase: 'wait' | 'run' | 'done' | 'stopped' | 'failed'
  startsAt: number
  done: number
  skipped: number
  /** Codes of those that were skipped, with how often. */
  reasons: ReadonlyMap<string, number>
  problem?: unknown
}

/** How long something that cannot be taken back can still be called off. */
const UNDO_MS = 5_000
const PER_REQUEST = 100
/** The server says when to come back; this long at least. */
const AGAIN_MS = 1_000

/** Does one thing to many exports, a request per hundred, and says how far it is. */
export function useBulk() {
  const client = useQueryClient()
  const [bulk, setBulk] = useState<Bulk | null>(null)
  const stop = useRef(new AbortController())
  // A page that is left takes nothing back, and sends nothing more.
  useEffect(() => () => stop.current.abort(), [])
  const run = async (action: BulkAction, chosen: Chosen) => {
    stop.current.abort()
    const abort = new AbortController()
    stop.current = abort
    const { signal } = abort
    const wait = action === 'retry' ? 0 : UNDO_MS
    let now: Bulk = {
      action,
      chosen,
      phase: wait > 0 ? 'wait' : 'run',
      startsAt: Date.now() + wait,
      done: 0,
      skipped: 0,
      reasons: new Map(),
    }
    const show = (change: Partial<Bulk>) => {
      now = { ...now, ...change }
      if (stop.current === abort) setBulk(now)
    }
    show({})
    await pause(wait, signal)
    if (signal.aborted) return
    show({ phase: 'run' })
    try {
      for await (const answer of answersTo(action, chosen, signal)) {
        const reasons = new Map(now.reasons)
        for (const { error } of answer.items)
          if (error) reasons.set(error.code, (reasons.get(error.code) ?? 0) + 1)
        show({ done: now.done + answer.done, skipped: now.skipped + answer.skipped, reasons })
      }
      show({ phase: 'done' })
    } catch (problem) {
      show(signal.aborted ? { phase: 'stopped' } : { phase: 'failed', problem })
    }
    void client.invalidateQueries({ queryKey: ['exports'] })
  }
  return {
    bulk,
    start: (action: BulkAction, chosen: Chosen) => void run(action, chosen),
    /** Before it has begun: nothing happens. Later: what is done stays done. */
    stop: () => {
      stop.current.abort()
      setBulk((now) => (now?.phase === 'wait' ? null : now && { ...now, phase: 'stopped' }))
    },
    close: () => setBulk(null),
  }
}

async function* answersTo(action: BulkAction, chosen: Chosen, signal: AbortSignal) {
  if ('ids' in chosen) {
    for (let at = 0; at < chosen.ids.length; at += PER_REQUEST)
      yield await patiently(
        () => changeExports({ action, ids: chosen.ids.slice(at, at + PER_REQUEST) }, signal),
        signal,
      )
    return
  }
  const filter = Object.fromEntries(Object.entries(chosen.filter).filter(([, value]) => value !== undefined))
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const body = { action, filter, ...(cursor !== undefined && { cursor }) }
    const answer = await patiently(() => changeExports(body, signal), signal)
    yield answer
    cursor = answer.next_cursor
  }
}

/** Too many requests, or a server that was away for a moment: what was done before is skipped the second time. */
async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      const passes = error instanceof Problem && [0, 429, 503].includes(error.status)
      if (!passes || tries >= 5 || signal.aborted) throw error
      await pause(AGAIN_MS * 2 ** tries, signal)
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
