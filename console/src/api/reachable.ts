import { Store } from '../store.ts'

/** Whether the server has said last that its database is away: it answers, but what is shown may be old. */
export const ledgerAway = new Store(false)

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5_000

/** Resolves once the server answers at all, however long it is away. */
export async function untilReachable(): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const answer = await fetch('/api/sign-in', { cache: 'no-store' }).catch(() => null)
    if (answer && answer.status < 500) return
    await pauseOrOnline(pause)
  }
}

/** A browser that finds its network again does not wait for the pause to end. */
function pauseOrOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    window.addEventListener('online', done)
  })
}
