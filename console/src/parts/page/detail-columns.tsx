import type { ReactNode } from 'react'
import './detail-columns.css'

/** The page of one thing: what happens to it at the left, what is known of it at the right. */
export function DetailColumns({ children, aside }: { children: ReactNode; aside: ReactNode }) {
  return (
    <div className="detail-columns">
      <div>{children}</div>
      <div>{aside}</div>
    </div>
  )
}

/** Names and values; a value that is not there is left out with its name. */
export function FactList({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="fact-list">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
