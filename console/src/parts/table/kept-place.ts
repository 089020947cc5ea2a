import { type RefObject, useEffect, useRef } from 'react'

/** Where a list was left: how far down, and which row was at the top then. */
interface Place {
  top: number
  row: string | undefined
}

const NAME = 'wharf.place'
/** Rows that came meanwhile push the one that was looked at this far down at most. */
const FARTHEST = 500

interface Rows {
  height: number
  count: number
  /** Rows are being read, and may turn out to be others. */
  busy: boolean
  /** There are no rows after those that are known. */
  ended: boolean
  keyAt(index: number): string | undefined
}

/**
 * The place in a list belongs to the entry of the browser's history: back leads to the same rows, and a link to the top. Rows are known page
 * by page, so the list goes down as far as it can until it is there, unless somebody scrolls meanwhile.
 */
export function useKeptPlace(area: RefObject<HTMLElement | null>, rows: Rows) {
  const wanted = useRef<Place | null>(placeOfEntry())
  const latest = useRef(rows)
  latest.current = rows
  useEffect(() => {
    const place = wanted.current
    const list = area.current
    if (place === null || list === null) return
    const { height, count, busy, ended, keyAt } = latest.current
    const first = Math.floor(place.top / height)
    const farthest = Math.min(count, first + FARTHEST)
    let index = first
    while (index < farthest && keyAt(index) !== undefined && keyAt(index) !== place.row) index++
    // Going to rows that are not known has them read.
    const isUnknown = index < farthest ? keyAt(index) === undefined : !ended && index >= count
    const at = isUnknown || index < farthest ? index : first
    const top = place.top + (at - first) * height
    list.scrollTo({ top })
    const isThere = ended || list.scrollTop > top - 1
    if (isThere && !isUnknown && !busy) wanted.current = null
  })
  const keep = useRef(() => {
    if (wanted.current !== null || !area.current) return
    const top = area.current.scrollTop
    const place: Place = { top, row: latest.current.keyAt(Math.floor(top / latest.current.height)) }
    window.history.replaceState({ ...window.history.state, [NAME]: place }, '')
  })
  useEffect(() => {
    const list = area.current
    if (list === null) return
    const kept = keep.current
    const give = () => {
      wanted.current = null
    }
    const moves = ['wheel', 'touchmove', 'keydown', 'pointerdown']
    for (const move of moves) list.addEventListener(move, give, { passive: true })
    // A link is followed before the list has come to rest.
    list.addEventListener('click', kept, { capture: true })
    return () => {
      for (const move of moves) list.removeEventListener(move, give)
      list.removeEventListener('click', kept, { capture: true })
    }
  }, [area])
  return {
    /** Called when the list rests. */
    keep: keep.current,
    isWanted: () => wanted.current !== null,
  }
}

function placeOfEntry(): Place | null {
  const state = window.history.state as Record<string, unknown> | null
  const place = state?.[NAME] as Place | undefined
  return place && place.top > 0 ? place : null
}
