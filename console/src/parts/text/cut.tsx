import './cut.css'

/** A name that people choose, which may be of any length: one line of it, all of it on hover. */
export function Cut({ text, title = text }: { text: string; title?: string }) {
  return (
    <span className="cut" title={title}>
      {text}
    </span>
  )
}
