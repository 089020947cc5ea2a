import { useEffect, useState } from 'react'

/** The time, again and again, while something on the page moves with it. */
export function useNow(everyMs: number, moving = true): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!moving) return
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, moving])
  return now
}
