import { useSyncExternalStore } from 'react'

const TICK_MS = 10_000
const watchers = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(watcher: () => void): () => void {
  if (watchers.size === 0) {
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const tick of watchers) tick()
    }, TICK_MS)
  }
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0) clearInterval(timer)
  }
}

/** The time, to ten seconds. One timer serves all that show it: a table has hundreds. */
export function useTicking(): number {
  return useSyncExternalStore(subscribe, () =>
    watchers.size === 0 ? Date.now() - (Date.now() % TICK_MS) : now,
  )
}
