import { type QueryKey, useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

export interface CursorPage<T> {
  items: readonly T[]
  next_cursor: string | null
}

interface Source<P> {
  queryKey: QueryKey
  /** Rows per page; the server keeps to it. */
  size: number
  read(cursor: string | null, signal: AbortSignal): Promise<P>
  enabled: boolean
}

/** Where each page begins. A page that has changed makes those after it begin elsewhere. */
class Chain<T, P extends CursorPage<T>> {
  readonly key: string
  cursors: (string | null)[] = [null]
  /** As they were read last: shown until a page has come again. */
  readonly pages = new Map<number, P>()
  ended = false

  constructor(key: string) {
    this.key = key
  }

  /** True if this tells where the next page begins, or that there is none, and that was not known. */
  note(index: number, page: P): boolean {
    this.pages.set(index, page)
    const next = page.next_cursor
    const known = index + 1 < this.cursors.length ? this.cursors[index + 1] : undefined
    if (next === known && next !== null) return false
    const wasEnd = this.ended && index === this.cursors.length - 1
    if (next === null && wasEnd) return false
    this.cursors = [...this.cursors.slice(0, index + 1), ...(next === null ? [] : [next])]
    this.ended = next === null
    return true
  }
}

/**
 * A list of any length by its cursor pages, of which only those in view are read and kept fresh. Pages are found one after
 * the other, so a jump beyond what is known reads the ones between.
 */
export function useWindowPages<T, P extends CursorPage<T>>({ queryKey, size, read, enabled }: Source<P>) {
  const [[first, last], setView] = useState<readonly [number, number]>([0, 0])
  const [, redraw] = useState(0)
  const key = JSON.stringify(queryKey)
  const chain = useRef(new Chain<T, P>(key))
  const before = useRef<P | undefined>(undefined)
  if (chain.current.key !== key) {
    // What was shown stays until the first page of the other list is there.
    before.current = chain.current.pages.get(0)
    chain.current = new Chain<T, P>(key)
  }
  const { cursors, pages, ended } = chain.current
  const upTo = Math.min(last, cursors.length - 1)
  const from = Math.min(first, upTo)
  const wanted = Array.from({ length: upTo - from + 1 }, (_, index) => from + index)
  const found = useQueries({
    queries: wanted.map((index) => ({
      queryKey: [...queryKey, cursors[index] ?? null],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(cursors[index] ?? null, signal),
      enabled,
      gcTime: 60_000,
    })),
  })
  const fresh = found.map(({ data }) => data)
  useEffect(() => {
    let changed = false
    for (const [at, page] of fresh.entries())
      if (page && pages.get(from + at) !== page) changed = chain.current.note(from + at, page) || changed
    if (changed) redraw((count) => count + 1)
  })
  const pageAt = (index: number) => fresh[index - from] ?? pages.get(index)
  const start = pageAt(0) ?? before.current
  const end = cursors.length - 1
  return {
    rowAt: (index: number): T | undefined =>
      (index < size && !pageAt(0) ? start : pageAt(Math.floor(index / size)))?.items[index % size],
    /** Those that were read, also out of view. */
    loaded: (): T[] =>
      [...new Set([...pages.keys(), ...wanted])].flatMap((index) => pageAt(index)?.items ?? []),
    /** Rows that are known, and a page more where there is one. */
    count: ended
      ? end * size + (pageAt(end)?.items.length ?? 0)
      : start
        ? end * size + start.items.length
        : 0,
    ended,
    /** The first page, of the list before while the new one is on its way. */
    start,
    isSuccess: pageAt(0) !== undefined,
    isFetching: found.some(({ isFetching }) => isFetching),
    error: found.find(({ error }) => error)?.error ?? null,
    refetch: () => void Promise.all(found.map((query) => query.refetch())),
    /** Rows that are looked at. The page that comes next is read when its rows are near. */
    show: (firstRow: number, lastRow: number) => {
      const next = [Math.floor(firstRow / size), Math.floor((lastRow + size / 2) / size)] as const
      setView((now) => (now[0] === next[0] && now[1] === next[1] ? now : next))
    },
  }
}
