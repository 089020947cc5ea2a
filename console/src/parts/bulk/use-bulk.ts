import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Problem } from '../../api/problem.ts'
import { session } from '../../api/session.ts'

/** What a request for many answers, of those it was for. */
export interface BulkAnswer {
  done: number
  skipped: number
  items: readonly { error: { code: string } | null }[]
}

/** One thing that is done to many. */
export interface BulkJob<A extends string> {
  action: A
  /** How many there are. */
  total: number
  /** Some of them may turn out to be none of those that it can be done to. */
  atMost: boolean
  /** It cannot be taken back, so it begins a few seconds later and can be called off until then. */
  waits: boolean
  answers(signal: AbortSignal): AsyncIterable<BulkAnswer>
}

export interface Bulk<A extends string> extends Pick<BulkJob<A>, 'action' | 'total' | 'atMost'> {
  /** `wait`: it can still be undone. */
  phase: 'wait' | 'run' | 'done' | 'stopped' | 'failed'
  startsAt: number
  done: number
  skipped: number
  /** Codes of those that were skipped, with how often. */
  reasons: ReadonlyMap<string, number>
  problem?: unknown
}

const UNDO_MS = 5_000
const PER_REQUEST = 100
/** The server says when to come back; this long at least. */
const AGAIN_MS = 1_000

/**
 * Does one thing to many, and says how far it is. `changes` is read again at its end. A page that is left takes nothing back: what waits
 * begins at once, what runs goes on, and `onEnd` gets to know how it ended.
 */
export function useBulk<A extends string>(changes: QueryKey, onEnd: (bulk: Bulk<A>) => void) {
  const client = useQueryClient()
  const [bulk, setBulk] = useState<Bulk<A> | null>(null)
  const stop = useRef(new AbortController())
  const left = useRef(new AbortController())
  useEffect(() => {
    left.current = new AbortController()
    return () => {
      left.current.abort()
      // Without a session nothing could be sent.
      if (!session.get()) stop.current.abort()
    }
  }, [])
  const isUnderWay = bulk?.phase === 'wait' || bulk?.phase === 'run'
  useEffect(() => {
    if (!isUnderWay) return
    // A browser that is closed sends nothing more: it asks first.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [isUnderWay])
  const run = async ({ action, total, atMost, waits, answers }: BulkJob<A>) => {
    stop.current.abort()
    const abort = new AbortController()
    stop.current = abort
    const { signal } = abort
    const wait = waits ? UNDO_MS : 0
    let now: Bulk<A> = {
      action,
      total,
      atMost,
      phase: waits ? 'wait' : 'run',
      startsAt: Date.now() + wait,
      done: 0,
      skipped: 0,
      reasons: new Map(),
    }
    const show = (change: Partial<Bulk<A>>) => {
      now = { ...now, ...change }
      if (stop.current === abort) setBulk(now)
    }
    show({})
    await pause(wait, AbortSignal.any([signal, left.current.signal]))
    if (signal.aborted) return
    show({ phase: 'run' })
    try {
      for await (const answer of answers(signal)) {
        const reasons = new Map(now.reasons)
        for (const { error } of answer.items)
          if (error) reasons.set(error.code, (reasons.get(error.code) ?? 0) + 1)
        show({ done: now.done + answer.done, skipped: now.skipped + answer.skipped, reasons })
      }
      show({ phase: 'done' })
    } catch (problem) {
      show(signal.aborted ? { phase: 'stopped' } : { phase: 'failed', problem })
    }
    if (left.current.signal.aborted && !signal.aborted) onEnd(now)
    void client.invalidateQueries({ queryKey: changes })
  }
  return {
    bulk,
    start: (job: BulkJob<A>) => void run(job),
    /** Before it has begun: nothing happens. Later: what is done stays done. */
    stop: () => {
      stop.current.abort()
      setBulk((now) => (now?.phase === 'wait' ? null : now && { ...now, phase: 'stopped' }))
    },
    close: () => setBulk(null),
  }
}

/** Those with these ids, a hundred per request. */
export async function* bulkOfIds<T>(
  ids: readonly string[],
  send: (ids: string[]) => Promise<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for (let at = 0; at < ids.length; at += PER_REQUEST)
    yield await patiently(() => send(ids.slice(at, at + PER_REQUEST)), signal)
}

/** All that match, as far as the cursor of each answer leads. */
export async function* bulkOfFilter<T extends { next_cursor: string | null }>(
  send: (cursor: string | undefined) => Promise<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const at: string | undefined = cursor
    const answer: T = await patiently(() => send(at), signal)
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
