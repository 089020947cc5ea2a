import { useLocation, useSearch } from 'wouter'

/** One value that stands in the address, so that a reload, a bookmark and the way back keep it. */
export function useAddressValue<T extends string>(
  name: string,
  isOne: (text: string) => text is T,
): [T | undefined, (next: T | undefined) => void] {
  const search = useSearch()
  const [path, go] = useLocation()
  const found = new URLSearchParams(search).get(name)
  const set = (next: T | undefined) => {
    // From the address itself: another value may have been set since the page was drawn.
    const query = new URLSearchParams(window.location.search)
    if (next) query.set(name, next)
    else query.delete(name)
    go(query.size > 0 ? `${path}?${query}` : path, { replace: true })
  }
  return [found !== null && isOne(found) ? found : undefined, set]
}

export function oneOf<T extends string>(values: readonly T[]): (text: string) => text is T {
  return (text): text is T => (values as readonly string[]).includes(text)
}

export function anyText(text: string): text is string {
  return text !== ''
}
