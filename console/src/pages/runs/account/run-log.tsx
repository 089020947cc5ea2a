import { useTranslation } from 'react-i18next'
import { listRunLog } from '../../../api/runs.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { useAccountList } from '../use-account-list.ts'
import { MoreButton } from './more-button.tsx'

/** What a run said of itself, newest first. */
export function RunLog({ handle, runId }: { handle: string; runId: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { items, error, more } = useAccountList(handle, ['log', runId], (page) => listRunLog(runId, page))
  return (
    <Panel title={t('runs.log.title')}>
      {error && <ProblemNote error={error} />}
      {items?.length === 0 && <p className="quiet">{t('runs.log.empty')}</p>}
      <ol className="account-log">
        {items?.map(({ seq, at, level, message, code, state }) => (
          <li key={seq} data-level={level}>
            <time dateTime={at} title={format.exact(at)}>
              {format.clock(at)}
            </time>
            <span>
              {state !== null && <b>{t(`runs.state.${state}`)}</b>}{' '}
              {code ? <FailureText error={{ code, message }} /> : message}
            </span>
          </li>
        ))}
      </ol>
      <MoreButton more={more} />
    </Panel>
  )
}
