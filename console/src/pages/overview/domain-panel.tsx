import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import type { Domain, DomainFigures } from '../../api/overview.ts'
import { lazyPart } from '../../live/lazy-part.ts'
import { useFormat } from '../../parts/format.ts'
import { Panel } from '../../parts/panel.tsx'

const ThroughputPlot = lazyPart(async () => (await import('./throughput-plot.tsx')).ThroughputPlot)

/** What one domain has done in the last hour and has before it. */
export function DomainPanel({ domain, figures }: { domain: Domain; figures: DomainFigures }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { queued, running, finished_last_hour, failed_last_hour, duration_ms, per_minute } = figures
  const name = t(`overview.domain.${domain}`)
  const isQuiet = finished_last_hour + failed_last_hour === 0
  const duration = (ms: number | undefined) => (ms === undefined ? '–' : format.duration(ms))
  return (
    <Panel title={name}>
      <dl className="overview-figures">
        <Figure name={t('overview.queued')} value={format.number(queued)} />
        <Figure name={t('overview.running')} value={format.number(running)} />
        <Figure name={t('overview.finished')} value={format.number(finished_last_hour)} />
        <Figure
          name={t('overview.failed')}
          value={format.number(failed_last_hour)}
          bad={failed_last_hour > 0}
        />
        <Figure name={t('overview.median')} value={duration(duration_ms?.p50)} />
        <Figure name={t('overview.p95')} value={duration(duration_ms?.p95)} />
      </dl>
      <div className="overview-plot" data-quiet={isQuiet}>
        {isQuiet ? (
          <p className="quiet">{t('overview.nothing_ended')}</p>
        ) : (
          <Suspense>
            <ThroughputPlot name={name} minutes={per_minute} />
          </Suspense>
        )}
      </div>
    </Panel>
  )
}

function Figure({ name, value, bad = false }: { name: string; value: string; bad?: boolean }) {
  return (
    <div data-bad={bad}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
