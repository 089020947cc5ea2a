import { useState } from 'react'

/** A choice out of names that this browser remembers. */
export function useKeptChoice<T extends string>(
  name: string,
  all: readonly T[],
  initial: readonly T[],
): [readonly T[], (next: readonly T[]) => void] {
  const [chosen, setChosen] = useState<readonly T[]>(() => kept(name, all) ?? initial)
  const set = (next: readonly T[]) => {
    localStorage.setItem(name, JSON.stringify(next))
    setChosen(next)
  }
  return [chosen, set]
}

function kept<T extends string>(name: string, all: readonly T[]): T[] | undefined {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(name) ?? 'null')
    return Array.isArray(found) ? all.filter((one) => found.includes(one)) : undefined
  } catch {
    return undefined
  }
}
