import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { untilReachable } from '../api/reachable.ts'

const TRIES = 2
const RELOADED_AT = 'wharf.reloaded-at'
const ONE_RELOAD_MS = 60_000

/**
 * A part of the console that is loaded when it is first drawn. Its script may not be there: the server is away, or was
 * updated and has other files now. Then it waits for the server and tries again; if the server is there and the script
 * is not, the page is loaded anew, with the files that the server has. Meanwhile the page shows that it loads.
 */
export function lazyPart<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await patiently(load) }))
}

async function patiently<T>(load: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await load()
    } catch (error) {
      await untilReachable()
      if (tries < TRIES) continue
      if (!mayReload()) throw error
      window.location.reload()
      // The page ends here; nothing is to be shown before it does.
      await new Promise(() => {})
    }
  }
}

/** Once a minute at most: what a new page cannot load either is a fault to be shown. */
function mayReload(): boolean {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0)
  if (Date.now() - last < ONE_RELOAD_MS) return false
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  return true
}
