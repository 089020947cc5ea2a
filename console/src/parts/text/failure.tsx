import './failure.css'
import { useProblemText } from './problem-text.ts'

/**
 * Why something failed: the sentence for its code, then the server's own words on this case, and the code. In a line of
 * its own there is room for the sentence alone; the rest is shown on hover. No page shows a code or a message by other means.
 */
export function FailureText({ error, line = false }: { error: unknown; line?: boolean }) {
  const { title, detail, code } = useProblemText()(error)
  const rest = [detail, code && `(${code})`].filter(Boolean).join(' ')
  if (line)
    return (
      <span className="failure" title={rest}>
        {title}
      </span>
    )
  return (
    <span className="failure">
      {title} <span className="failure-words">{detail}</span> <code>{code}</code>
    </span>
  )
}
