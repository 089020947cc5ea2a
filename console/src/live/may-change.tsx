import type { ReactNode } from 'react'
import { type Domain, may, session } from '../api/session.ts'
import { useStore } from '../store.ts'

/** Whether a change there would be refused. */
export function useMayChange(domain: Domain): boolean {
  return may(useStore(session), 'change', domain)
}

/** Buttons for those whose session may use them; the frame says why others see none. */
export function MayChange({ of, children }: { of: Domain; children: ReactNode }) {
  return useMayChange(of) && children
}
