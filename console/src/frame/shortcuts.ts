import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { may, session } from '../api/session.ts'
import { placesFor } from '../pages/registry.ts'
import { Store } from '../store.ts'

const KEPT_AS = 'wharf.single-keys'
/** How long `g` waits for the letter of a page. */
const SECOND_KEY_MS = 1_500

/** Whether keys act without Ctrl. Those who speak to their computer turn it off: a spoken word is a row of keys. */
export const singleKeys = new Store(localStorage.getItem(KEPT_AS) !== 'off')

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(KEPT_AS, on ? 'on' : 'off')
  singleKeys.set(on)
}

export const CTRL = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl'

export type Overlay = 'palette' | 'sheet'

/** Keys that work on every page: the palette, the sheet of shortcuts, a page by its letter, a new export, the search field. */
export function useShortcuts(open: (overlay: Overlay) => void): void {
  const [, go] = useLocation()
  const latest = useRef({ open, go })
  latest.current = { open, go }
  useEffect(() => {
    let gAt = 0
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, timeStamp } = event
      const act = (action: () => void) => {
        event.preventDefault()
        action()
      }
      if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k')
        return act(() => latest.current.open('palette'))
      if (ctrlKey || metaKey || altKey || !singleKeys.get() || isTaken(event)) return
      const place =
        timeStamp - gAt < SECOND_KEY_MS && placesFor(session.get()).find(({ shortcut }) => shortcut === key)
      gAt = key === 'g' ? timeStamp : 0
      if (place) return act(() => latest.current.go(place.path))
      if (key === '?') return act(() => latest.current.open('sheet'))
      if (key === 'n' && may(session.get(), 'change', 'exports'))
        return act(() => latest.current.go('/exports/new'))
      const search = key === '/' && document.querySelector<HTMLInputElement>('main search input')
      if (search) act(() => search.focus())
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}

const FORMS = 'form, .builder'

/** Somebody types, or a dialog has the keys. In a form a letter is meant for it, even if none of its fields has the focus. */
function isTaken({ target, defaultPrevented }: KeyboardEvent): boolean {
  if (defaultPrevented || document.querySelector('dialog[open]')) return true
  if (!(target instanceof HTMLElement)) return false
  if (target.matches('body, [tabindex="-1"]') && document.querySelector(`main :is(${FORMS})`)) return true
  return target.closest(`input, textarea, select, [contenteditable="true"], ${FORMS}`) !== null
}
