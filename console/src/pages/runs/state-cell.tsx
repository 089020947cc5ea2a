import { LockOutlined } from '@ant-design/icons'
import { Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import type { Account, AccountState } from '../../api/runs.ts'
import { Pill, type Tone } from '../../parts/table/pill.tsx'

const TONES: Record<AccountState, Tone> = {
  Idle: 'quiet',
  Queued: 'wait',
  Running: 'busy',
  Done: 'ok',
  Failed: 'bad',
  Cancelled: 'warn',
}

/** Its state; in the queue its place, while it is locked the reason. `place` counts from 1. */
export function StateCell({ account, place }: { account: Account; place: number | null }) {
  const { t } = useTranslation()
  const { state, locked, progress } = account
  return (
    <span className="runs-state">
      <span className="runs-state-line">
        <RunPill state={state} failed={progress.failed} />
        {locked && (
          <Tooltip placement="right" title={t(`runs.locked.${state === 'Running' ? 'running' : 'queued'}`)}>
            <LockOutlined tabIndex={0} role="img" aria-label={t('runs.locked.short')} />
          </Tooltip>
        )}
      </span>
      {place !== null && <span className="runs-sub">{t('runs.place', { place })}</span>}
    </span>
  )
}

/** A run that came to its end but left files behind is not simply done. */
export function RunPill({ state, failed }: { state: AccountState; failed: number }) {
  const { t } = useTranslation()
  if (state === 'Done' && failed > 0) return <Pill tone="warn">{t('runs.done_but', { count: failed })}</Pill>
  return <Pill tone={TONES[state]}>{t(`runs.state.${state}`)}</Pill>
}
