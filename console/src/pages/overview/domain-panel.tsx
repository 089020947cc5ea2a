import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { Domain, DomainFigures, DomainHistory, HistoryRange } from '../../api/overview.ts'
import { lazyPart } from '../../live/lazy-part.ts'
import { useFormat } from '../../parts/format.ts'
import { Panel } from '../../parts/panel.tsx'
import { type Counted, listAddress } from './addresses.ts'

const ThroughputPlot = lazyPart(async () => (await import('./throughput-plot.tsx')).ThroughputPlot)

interface Props {
  domain: Domain
  figures: DomainFigures
  /** undefined until it is read. */
  history: { range: HistoryRange; step_seconds: number; domains: Record<Domain, DomainHistory> } | undefined
}

/** What one domain has done and has before it. Each number leads to its rows. */
export function DomainPanel({ domain, figures, history }: Props) {
  const { t } = useTranslation()
  const format = useFormat()
  const { queued, running, duration_ms } = figures
  const own = history?.domains[domain]
  const name = t(`overview.domain.${domain}`)
  const isQuiet = own !== undefined && own.finished + own.failed === 0
  const range = history && t(`overview.in_range.${history.range}`)
  const duration = (ms: number | undefined) => (ms === undefined ? '–' : format.duration(ms))
  const counts: [Counted, number | undefined][] = [
    ['queued', queued],
    ['running', running],
    ['finished', own?.finished],
    ['failed', own?.failed],
  ]
  return (
    <Panel title={name} extra={<PlotLegend />}>
      <dl className="overview-figures">
        {counts.map(([counted, value]) => (
          <div key={counted} data-bad={counted === 'failed' && (value ?? 0) > 0}>
            <dt>{t(`overview.${counted}`)}</dt>
            <dd>
              <Link
                href={listAddress(domain, counted)}
                aria-label={t('overview.to_rows', {
                  name,
                  figure: t(`overview.${counted}`),
                  value: value === undefined ? '–' : format.number(value),
                })}
              >
                {value === undefined ? '–' : format.number(value)}
              </Link>
            </dd>
          </div>
        ))}
        <div>
          <dt>{t('overview.median')}</dt>
          <dd>{duration(duration_ms?.p50)}</dd>
        </div>
        <div>
          <dt>{t('overview.p95')}</dt>
          <dd>{duration(duration_ms?.p95)}</dd>
        </div>
      </dl>
      <div className="overview-plot" data-quiet={isQuiet}>
        {isQuiet && <p className="quiet">{t('overview.nothing_ended', { range })}</p>}
        {own && history && !isQuiet && (
          <Suspense>
            <ThroughputPlot
              label={t('overview.plot_label', { name, count: own.finished + own.failed, range })}
              steps={own.steps}
              stepSeconds={history.step_seconds}
            />
          </Suspense>
        )}
      </div>
    </Panel>
  )
}

function PlotLegend() {
  const { t } = useTranslation()
  return (
    <span className="overview-legend">
      <span data-kind="finished">{t('overview.finished')}</span>
      <span data-kind="failed">{t('overview.failed')}</span>
    </span>
  )
}
