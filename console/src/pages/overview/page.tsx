import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type Domain, getHistory, getOverview, type HistoryRange } from '../../api/overview.ts'
import { oneOf, useAddressValue } from '../../live/address-value.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { PageLoading } from '../../parts/page/page-loading.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { AttentionPanels } from './attention-panels.tsx'
import { DomainPanel } from './domain-panel.tsx'
import { HealthPanel } from './health-panel.tsx'
import { InstancesPanel } from './instances-panel.tsx'
import './overview.css'
import { RANGES, RangeChoice } from './range-choice.tsx'

const DOMAINS: readonly Domain[] = ['exports', 'transfers', 'runs', 'processing']
/** Minutes and heartbeats go by without an event: these figures are also read again by the clock. */
const AGAIN_MS = 5_000
const AGAIN_LONG_MS = 60_000

/** How everything does: what is broken, what failed, what waits, and how much goes through. */
export function OverviewPage() {
  const { t } = useTranslation()
  const format = useFormat()
  const [range = '1h', setRange] = useAddressValue<HistoryRange>('range', oneOf(RANGES))
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => getOverview(signal),
    refetchInterval: AGAIN_MS,
  })
  const history = useQuery({
    queryKey: ['overview-history', range],
    queryFn: ({ signal }) => getHistory(range, signal),
    refetchInterval: range === '1h' ? AGAIN_MS : AGAIN_LONG_MS,
    placeholderData: keepPreviousData,
  })
  const problem = error ?? history.error
  return (
    <>
      <PageHead
        title={t('overview.title')}
        text={data ? t('overview.text', { time: format.clock(data.at) }) : t('overview.text_loading')}
      >
        <RangeChoice range={range} onChoose={setRange} />
      </PageHead>
      {isPending && <PageLoading />}
      {problem && (
        <div className="overview-problem">
          <ProblemNote error={problem} onRetry={() => void Promise.all([refetch(), history.refetch()])} />
        </div>
      )}
      {data && (
        <>
          <HealthPanel />
          <div className="overview-grid">
            {DOMAINS.map((domain) => (
              <DomainPanel
                key={domain}
                domain={domain}
                figures={data.domains[domain]}
                history={history.data}
              />
            ))}
          </div>
          <AttentionPanels />
          <InstancesPanel overview={data} />
        </>
      )}
    </>
  )
}
