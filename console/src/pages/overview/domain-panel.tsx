import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { Domain, DomainFigures, DomainHistory, HistoryRange } from '../../api/overview.ts'
import { lazyPart } from '../../live/lazy-part.ts'
import { totalText } from '../../parts/bulk/total-text.ts'
import { Panel } from '../../parts/page/panel.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { type Counted, listAddress } from './addresses.ts'
import { useEndedExports } from './use-ended-exports.ts'

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
  const figure = (value: number | undefined) => (value === undefined ? '–' : format.number(value))
  const rows = useEndedExports(domain === 'exports' ? history?.range : undefined)
  const ended = (status: 'succeeded' | 'failed', value: number | undefined) => {
    if (domain !== 'exports') return figure(value)
    const total = rows[status]
    return total ? totalText(total, format.number) : '–'
  }
  const counts: [Counted, string][] = [
    ['queued', figure(queued)],
    ['running', figure(running)],
    ['finished', ended('succeeded', own?.finished)],
    ['failed', ended('failed', own?.failed)],
  ]
  return (
    <Panel title={name} extra={<PlotLegend />}>
      <dl className="overview-figures">
        {counts.map(([counted, value]) => (
          <div key={counted} data-bad={counted === 'failed' && /[1-9]/.test(value)}>
            <dt>{t(`overview.${counted}`)}</dt>
            <dd>
              <Link
                href={listAddress(domain, counted, history?.range ?? '1h')}
                aria-label={t('overview.to_rows', {
                  name,
                  figure: t(`overview.${counted}`),
                  value,
                })}
              >
                {value}
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
