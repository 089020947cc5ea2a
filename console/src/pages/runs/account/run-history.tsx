import { useTranslation } from 'react-i18next'
import { listRuns, type Run } from '../../../api/runs.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'
import { RunPill } from '../state-cell.tsx'
import { useAccountList } from '../use-account-list.ts'
import { MoreButton } from './more-button.tsx'

/** The runs of an account; the one that is pressed has its log below. */
export function RunHistory({
  handle,
  shown,
  onShow,
}: {
  handle: string
  shown: string | null
  onShow(runId: string): void
}) {
  const { t } = useTranslation()
  const { items, error, more } = useAccountList(handle, 'runs', (page) => listRuns(handle, page))
  return (
    <Panel title={t('runs.history.title')}>
      {error && <ProblemNote error={error} />}
      {items?.length === 0 && <p className="quiet">{t('runs.never')}</p>}
      <ul className="account-runs">
        {items?.map((run) => (
          <li key={run.run_id}>
            <OneRun run={run} pressed={run.run_id === shown} onShow={onShow} />
          </li>
        ))}
      </ul>
      <MoreButton more={more} />
    </Panel>
  )
}

function OneRun({ run, pressed, onShow }: { run: Run; pressed: boolean; onShow(runId: string): void }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { progress, started_at, finished_at, created_at, error } = run
  const took =
    started_at !== null && finished_at !== null
      ? format.duration(Math.max(0, Date.parse(finished_at) - Date.parse(started_at)))
      : null
  return (
    <button type="button" className="account-run" aria-pressed={pressed} onClick={() => onShow(run.run_id)}>
      <span className="account-run-line">
        <RelativeTime at={created_at} />
        <RunPill state={run.state} failed={progress.failed} />
      </span>
      <span className="runs-sub">
        {[
          t(`runs.kind.${run.kind}`),
          t('runs.history.files', { count: progress.downloaded, files: format.number(progress.downloaded) }),
          format.bytes(progress.bytes),
          took,
        ]
          .filter((text) => text !== null)
          .join(' · ')}
      </span>
      {error && (
        <span className="runs-error">
          <FailureText error={error} line />
        </span>
      )}
    </button>
  )
}
