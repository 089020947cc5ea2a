import './progress-bar.css'

/** How far something is; without a fraction it only shows that it moves. */
export function ProgressBar({ label, fraction }: { label: string; fraction: number | null }) {
  const percent = fraction === null ? undefined : Math.round(Math.min(1, fraction) * 100)
  return (
    <div
      className="progress-bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      data-moving={fraction === null}
    >
      <span style={{ width: `${percent ?? 30}%` }} />
    </div>
  )
}
