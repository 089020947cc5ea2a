import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type Domain, getOverview } from '../../api/overview.ts'
import { useFormat } from '../../parts/format.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLoading } from '../../parts/page-loading.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { DomainPanel } from './domain-panel.tsx'
import { InstancesPanel } from './instances-panel.tsx'
import './overview.css'

const DOMAINS: readonly Domain[] = ['exports', 'transfers', 'runs', 'processing']
/** Minutes and heartbeats go by without an event: these figures are also read again by the clock. */
const AGAIN_MS = 5_000

/** The last hour, by domain, and the instances that share the work. */
export function OverviewPage() {
  const { t } = useTranslation()
  const format = useFormat()
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => getOverview(signal),
    refetchInterval: AGAIN_MS,
  })
  return (
    <>
      <PageHead
        title={t('overview.title')}
        text={data ? t('overview.text', { time: format.moment(data.at) }) : t('overview.text_loading')}
      />
      {isPending && <PageLoading />}
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {data && (
        <>
          <div className="overview-grid">
            {DOMAINS.map((domain) => (
              <DomainPanel key={domain} domain={domain} figures={data.domains[domain]} />
            ))}
          </div>
          <InstancesPanel overview={data} />
        </>
      )}
    </>
  )
}
