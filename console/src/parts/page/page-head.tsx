import type { ReactNode } from 'react'
import { useEffect } from 'react'
import './page-head.css'

/** The title of a page, also in the browser's tab, and what can be done here. */
export function PageHead({
  title,
  text,
  children,
}: {
  title: string
  text?: ReactNode
  children?: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Wharf`
  }, [title])
  return (
    <div className="page-head">
      <div className="page-head-words">
        <h1 title={title}>{title}</h1>
        {text && <p className="quiet">{text}</p>}
      </div>
      {children && <div className="page-head-actions">{children}</div>}
    </div>
  )
}
