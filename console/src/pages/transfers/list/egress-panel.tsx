import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import type { TransferItem } from '../../../api/transfers.ts'
import { lazyPart } from '../../../live/lazy-part.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { useFormat } from '../../../parts/text/format.ts'

const EgressPlot = lazyPart(async () => (await import('./egress-plot.tsx')).EgressPlot)
const MOST = 20

/** Server egress against bytes delivered: what the peers carry for each other. */
export function EgressPanel({ jobs }: { jobs: readonly TransferItem[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const begun = jobs.filter((job) => job.delivered_bytes > 0 || (job.egress_bytes ?? 0) > 0).slice(0, MOST)
  const delivered = begun.reduce((sum, job) => sum + job.delivered_bytes, 0)
  const told = begun.filter((job) => job.egress_bytes !== null)
  const sent = told.reduce((sum, job) => sum + (job.egress_bytes ?? 0), 0)
  return (
    <Panel title={t('transfers.egress.title')}>
      {begun.length === 0 ? (
        <p className="quiet">{t('transfers.egress.empty')}</p>
      ) : (
        <>
          <dl className="transfers-figures">
            <div data-kind="delivered">
              <dt>{t('transfers.egress.delivered')}</dt>
              <dd>{format.bytes(delivered)}</dd>
            </div>
            <div data-kind="sent">
              <dt>{t('transfers.egress.sent')}</dt>
              <dd>{told.length > 0 ? format.bytes(sent) : '–'}</dd>
            </div>
            <div>
              <dt>{t('transfers.egress.times')}</dt>
              <dd>{sent > 0 ? `${format.number(Math.round((delivered / sent) * 10) / 10)}×` : '–'}</dd>
            </div>
          </dl>
          <Suspense fallback={<div className="transfers-plot" />}>
            <EgressPlot jobs={[...begun].reverse()} />
          </Suspense>
        </>
      )}
    </Panel>
  )
}
