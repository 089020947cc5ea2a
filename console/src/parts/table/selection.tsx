import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

/** Rows of a table that are ticked. */
export interface Selection<T> {
  label: string
  labelOf(row: T): string
  has(key: string): boolean
  toggle(key: string, on: boolean): void
  /** Whether all rows that are loaded are selected. */
  all: boolean | 'some'
  toggleAll(on: boolean): void
}

export interface Ticked {
  chosen: ReadonlySet<string>
  /** All that match are meant. */
  everything: boolean
  onChange(chosen: ReadonlySet<string>): void
}

interface Rows<T> {
  /** All that a tick in the header is for. */
  loaded(): readonly T[]
  keyOf(row: T): string
  nameOf(row: T): string
}

/** Undefined: whoever looks on may change nothing. */
export function useSelection<T>(
  ticked: Ticked | undefined,
  { loaded, keyOf, nameOf }: Rows<T>,
): Selection<T> | undefined {
  const { t } = useTranslation()
  if (!ticked) return undefined
  const { chosen, everything, onChange } = ticked
  return {
    label: t('lists.select_all'),
    labelOf: (row) => t('lists.select_row', { name: nameOf(row) }),
    has: (key) => everything || chosen.has(key),
    toggle(key, on) {
      const next = new Set(everything ? loaded().map(keyOf) : chosen)
      if (on) next.add(key)
      else next.delete(key)
      onChange(next)
    },
    all: everything || (chosen.size > 0 && (chosen.size >= loaded().length || 'some')),
    toggleAll: (on) => onChange(new Set(on ? loaded().map(keyOf) : [])),
  }
}

/** The tick in the header, for all rows that are loaded. */
export function TickAll<T>({ selection: { label, all, toggleAll } }: { selection: Selection<T> }) {
  return <Check label={label} on={all === true} some={all === 'some'} onChange={toggleAll} />
}

export function Check({
  label,
  on,
  some = false,
  onChange,
}: {
  label: string
  on: boolean
  some?: boolean
  onChange(on: boolean): void
}) {
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = some
  }, [some])
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label={label}
      checked={on}
      onChange={({ target }) => onChange(target.checked)}
    />
  )
}
