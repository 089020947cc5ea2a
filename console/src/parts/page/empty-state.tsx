import type { ReactNode } from 'react'
import './empty-state.css'

/** Nothing here yet, and what to do next. */
export function EmptyState({
  title,
  text,
  alone = false,
  children,
}: {
  title: string
  text: string
  /** There is nothing else on the page, so its title is that of the page. */
  alone?: boolean
  children?: ReactNode
}) {
  const Heading = alone ? 'h1' : 'h2'
  return (
    <div className="empty-state">
      <svg viewBox="0 0 120 60" width="120" height="60" aria-hidden="true">
        <path d="M8 46h104" />
        <path d="M22 46V26h20v20M46 46V14h20v32M70 46V30h20v16" />
        <path className="empty-state-water" d="M4 54q7-5 14 0t14 0 14 0 14 0 14 0 14 0 14 0 14 0" />
      </svg>
      <Heading>{title}</Heading>
      <p className="quiet">{text}</p>
      {children && <div>{children}</div>}
    </div>
  )
}
