import { type ReactNode, useId } from 'react'
import './panel.css'

/** A white sheet with a heading. */
export function Panel({
  title,
  extra,
  children,
}: {
  title?: string
  extra?: ReactNode
  children: ReactNode
}) {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={title ? id : undefined}>
      {title && (
        <div className="panel-head">
          <h2 id={id} title={title}>
            {title}
          </h2>
          {extra}
        </div>
      )}
      {children}
    </section>
  )
}
