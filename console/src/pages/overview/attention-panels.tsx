import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import {
  type Domain,
  type FailedTargets,
  getAttention,
  type NoticedFailure,
  type NoticedWait,
} from '../../api/overview.ts'
import { ledgerAway } from '../../api/reachable.ts'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { FailureText } from '../../parts/text/failure.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { useCodeText } from '../../parts/text/target-code.ts'
import { waitText } from '../../parts/text/wait-text.ts'
import { useStore } from '../../store.ts'
import { pageAddress } from './addresses.ts'

const AGAIN_MS = 10_000
const MOST = 8

/** What failed last and what waits longest, over all domains; each leads to its page. */
export function AttentionPanels() {
  const { t } = useTranslation()
  const format = useFormat()
  const { data, error } = useQuery({
    queryKey: ['attention'],
    queryFn: ({ signal }) => getAttention(signal),
    refetchInterval: AGAIN_MS,
  })
  // The page says so above, once.
  const away = useStore(ledgerAway)
  const domains = Object.entries(data?.domains ?? {}) as [
    Domain,
    { failures: NoticedFailure[]; waiting: NoticedWait[] },
  ][]
  const failures = domains
    .flatMap(([domain, { failures: own }]) => own.map((row) => ({ ...row, domain })))
    .sort((a, b) => (a.at < b.at ? 1 : -1))
  const waiting = domains
    .flatMap(([domain, { waiting: own }]) => own.map((row) => ({ ...row, domain })))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
  return (
    <div className="overview-pair">
      <Panel title={t('overview.failures.title')}>
        {error && !away && <ProblemNote error={error} />}
        {data && failures.length === 0 && <p className="quiet">{t('overview.failures.empty')}</p>}
        <ul className="overview-noticed">
          {failures.slice(0, MOST).map((row) => (
            <Row key={`${row.domain} ${row.id} ${row.at}`} row={row} time={format.moment(row.at)}>
              <span className="overview-why">
                {row.targets ? <TargetsText targets={row.targets} /> : <FailureText error={row.error} />}
              </span>
            </Row>
          ))}
        </ul>
      </Panel>
      <Panel title={t('overview.waiting.title')}>
        {data && waiting.length === 0 && <p className="quiet">{t('overview.waiting.empty')}</p>}
        <ul className="overview-noticed">
          {waiting.slice(0, MOST).map((row) => (
            <Row
              key={`${row.domain} ${row.id}`}
              row={row}
              time={t('overview.waiting.since', {
                time: format.duration(Math.max(0, Date.now() - Date.parse(row.at))),
              })}
            >
              {row.waiting_for && <span className="overview-why">{waitText(t, row.waiting_for)}</span>}
            </Row>
          ))}
        </ul>
      </Panel>
    </div>
  )
}

/** Of a delivery: how many hosts failed, and why most of them did. */
function TargetsText({ targets: { total, failed, error_code } }: { targets: FailedTargets }) {
  const { t } = useTranslation()
  const format = useFormat()
  const codeText = useCodeText()
  return (
    <span title={String(error_code)}>
      {t('overview.failures.targets', {
        count: failed,
        failed: format.number(failed),
        total: format.number(total),
        reason: codeText(error_code),
      })}
    </span>
  )
}

function Row({
  row: { domain, id, name, at },
  time,
  children,
}: {
  row: Omit<NoticedWait, 'waiting_for'> & { domain: Domain }
  time: string
  children?: ReactNode
}) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <li>
      <span className="overview-noticed-head">
        <span>
          <Link href={pageAddress(domain, id)}>{name}</Link>{' '}
          <span className="overview-sub">{t(`overview.domain.${domain}`)}</span>
        </span>
        <time className="overview-sub" dateTime={at} title={format.exact(at)}>
          {time}
        </time>
      </span>
      {children}
    </li>
  )
}
