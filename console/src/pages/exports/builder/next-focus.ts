import { type RefObject, useEffect, useRef } from 'react'
import type { Path, Step } from './edit-tree.ts'

/** A node by its place and the arrow that moved it, the first field of the form of the chosen one, or the button that adds one. */
export type Next = { node: Path; step?: Step } | 'form' | 'add'

const SELECTORS = { form: '.builder-form input', add: '.builder-add button' }

/** Buttons go away with the node they are for: says where the focus goes once the change is drawn. */
export function useNextFocus(root: RefObject<HTMLElement | null>): (next: Next) => void {
  const wanted = useRef<Next | null>(null)
  useEffect(() => {
    const next = wanted.current
    wanted.current = null
    if (next === null) return
    const found = selectorsOf(next).map((one) => root.current?.querySelector<HTMLElement>(one))
    const target = found.find((one) => one)
    target?.focus()
    // What a new node is called is the first thing to be said of it.
    if (next === 'form' && target instanceof HTMLInputElement) target.select()
  })
  return (next) => {
    wanted.current = next
  }
}

/** The first that is there. */
function selectorsOf(next: Next): string[] {
  if (typeof next === 'string') return [SELECTORS[next]]
  const name = `[data-node="${next.node.join('.')}"]`
  return next.step ? [`${name} ~ * [data-step="${next.step}"]:enabled`, name] : [name]
}
