import { Store } from '../store.ts'

export type Mode = 'system' | 'light' | 'dark'

const KEPT_AS = 'wharf.theme'
const system = window.matchMedia('(prefers-color-scheme: dark)')
const still = window.matchMedia('(prefers-reduced-motion: reduce)')

export const mode = new Store<Mode>(read())
/** Whether it is dark now, by choice or by the system. */
export const dark = new Store(false)
/** Whether parts may move; the system says so. */
export const motion = new Store(!still.matches)

function read(): Mode {
  const kept = localStorage.getItem(KEPT_AS)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

function apply(): void {
  dark.set(mode.get() === 'system' ? system.matches : mode.get() === 'dark')
  document.documentElement.dataset.theme = dark.get() ? 'dark' : 'light'
}

export function setMode(next: Mode): void {
  localStorage.setItem(KEPT_AS, next)
  mode.set(next)
  apply()
}

system.addEventListener('change', apply)
still.addEventListener('change', () => motion.set(!still.matches))
apply()
