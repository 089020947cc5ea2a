import { useTranslation } from 'react-i18next'
import type { Account } from '../../api/runs.ts'
import { FailureText } from '../../parts/text/failure.tsx'
import { useFormat } from '../../parts/text/format.ts'

const NAMES = ['downloaded', 'skipped', 'filtered', 'failed'] as const

/** What the last run has done, as it does it. */
export function Counters({ account: { progress, state, run_id, error } }: { account: Account }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (run_id === null) return <span className="runs-sub">{t('runs.never')}</span>
  return (
    <div className="runs-counters">
      <dl>
        {NAMES.map((name) => (
          <div key={name} data-name={name} data-bad={name === 'failed' && progress.failed > 0}>
            <dt>{t(`runs.counter.${name}`)}</dt>
            <dd>{format.number(progress[name])}</dd>
          </div>
        ))}
      </dl>
      <span className="runs-sub">
        {format.bytes(progress.bytes)}
        {state === 'Running' && ` · ${t('runs.rate', { rate: format.bytes(progress.rate) })}`}
        {progress.page > 0 && ` · ${t('runs.page', { page: progress.page })}`}
      </span>
      {error && (
        <span className="runs-error">
          <FailureText error={error} />
        </span>
      )}
    </div>
  )
}
