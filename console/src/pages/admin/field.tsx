import { type ReactNode, useId } from 'react'

/** A field with its name above it. */
export function Field({
  label,
  hint,
  children,
}: {
  label: string
  hint?: string
  children(id: string): ReactNode
}) {
  const id = useId()
  return (
    <div className="admin-field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint && <small>{hint}</small>}
    </div>
  )
}
