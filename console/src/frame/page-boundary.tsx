import { Component, type ReactNode } from 'react'
import { ProblemNote } from '../parts/page/problem-note.tsx'

/** A page that breaks says so in its place, and leaves the navigation alone. */
export class PageBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return <ProblemNote error={this.state.error} onRetry={() => window.location.reload()} />
  }
}
