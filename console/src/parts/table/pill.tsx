import './pill.css'

export type Tone = 'ok' | 'bad' | 'warn' | 'wait' | 'busy' | 'quiet'

/** A state in a word and a colour. */
export function Pill({ tone, children }: { tone: Tone; children: string }) {
  return <span className={`pill pill-${tone}`}>{children}</span>
}
