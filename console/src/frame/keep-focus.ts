import { useEffect } from 'react'

/** Lists and questions that open above the page, and close by themselves. */
const POPUP = '.ant-popover, .ant-dropdown, .ant-select-dropdown, .toasts'
/** Where a reader finds their way again. */
const PLACE = '.window-table, .list-panel, .panel, .dialog-body, main'

/**
 * What has the focus may go away: a row that is deleted, a question that was answered. The focus then goes back to what opened
 * the question, or to the nearest part of the page that is still there, and not to the top of the document.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let trail: HTMLElement[] = []
    const restore = () => {
      if (trail.length === 0 || document.activeElement !== document.body || !document.hasFocus()) return
      const [own] = trail
      const place = own && isUsable(own) ? own : trail.find((one) => one.isConnected && one.matches(PLACE))
      trail = []
      if (!place) return
      if (place !== own) place.tabIndex = -1
      place.focus({ preventScroll: true })
    }
    const onFocusIn = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && !target.closest(POPUP)) trail = withAncestors(target)
    }
    // Whoever clicks beside everything wants nothing to have the focus.
    const onPointerDown = ({ target }: PointerEvent) => {
      if (target instanceof HTMLElement && !target.closest(POPUP)) trail = []
    }
    const onFocusOut = () => void requestAnimationFrame(restore)
    const removals = new MutationObserver(restore)
    removals.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', onFocusIn)
    document.addEventListener('focusout', onFocusOut)
    document.addEventListener('pointerdown', onPointerDown, true)
    return () => {
      removals.disconnect()
      document.removeEventListener('focusin', onFocusIn)
      document.removeEventListener('focusout', onFocusOut)
      document.removeEventListener('pointerdown', onPointerDown, true)
    }
  }, [])
}

const isUsable = (one: HTMLElement) => one.checkVisibility() && !one.matches(':disabled')

function withAncestors(element: HTMLElement): HTMLElement[] {
  const trail = []
  for (let one: HTMLElement | null = element; one; one = one.parentElement) trail.push(one)
  return trail
}
