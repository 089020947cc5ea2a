import type { ReactNode } from 'react'

/** Settings that most people never need. What is inside stays part of the form while it is folded. */
export function Fold({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  return (
    <details className="make-fold">
      <summary>
        <span className="make-fold-title">{title}</span>
        {text && <span className="make-fold-text">{text}</span>}
      </summary>
      <div className="make-fold-body">{children}</div>
    </details>
  )
}
