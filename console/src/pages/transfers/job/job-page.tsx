import { StopOutlined } from '@ant-design/icons'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Popconfirm } from 'antd'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { cancelTransferJob, getTransferJob, type TransferJob } from '../../../api/transfers.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { useOnce } from '../../../live/use-once.ts'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { PageLoading } from '../../../parts/page/page-loading.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { countKinds, hasFailed, type TargetKind, targetsOf } from '../make/target-list.ts'
import { StatusPill } from '../status-pill.tsx'
import { FailureGroups } from './failure-groups.tsx'
import { JobFacts } from './job-facts.tsx'
import { Legend } from './legend.tsx'
import { RedeliverButton } from './redeliver-button.tsx'
import { TargetMap } from './target-map.tsx'
import { TargetTable } from './target-table.tsx'
import '../transfers.css'

const AGAIN_MS = 1_000
/** An answer about thousands of targets is long: it is asked for less often. */
const AGAIN_LONG_MS = 3_000
const LONG = 1_000

const hasEnded = ({ status }: TransferJob) => !['Pending', 'Running'].includes(status)

/** One delivery: what it moved, and how each of its targets stands. */
export function TransferJobPage({ jobId }: { jobId: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [shown, setShown] = useState<TargetKind | null>(null)
  const [reason, setReason] = useState<number | null>(null)
  const { data: job, error } = useQuery({
    queryKey: ['transfer-job', jobId],
    queryFn: ({ signal }) => getTransferJob(jobId, signal),
    refetchInterval: ({ state: { data } }) => {
      if (!data) return AGAIN_LONG_MS
      if (hasEnded(data)) return false
      return data.targets > LONG ? AGAIN_LONG_MS : AGAIN_MS
    },
  })
  const targets = useMemo(() => (job ? targetsOf(job) : []), [job])
  const counts = useMemo(() => countKinds(targets), [targets])
  if (error && !job) return <ProblemNote error={error} />
  if (!job) return <PageLoading />
  const failures = targets.filter(hasFailed)
  const listed = (shown === null ? failures : targets.filter(({ kind }) => kind === shown)).filter(
    ({ code }) => reason === null || code === reason,
  )
  const heading = shown === null ? t('transfers.map.failures') : t(`transfers.kind.${shown}`)
  return (
    <>
      <BackLink href="/transfers">{t('transfers.title')}</BackLink>
      <PageHead title={job.file_name} text={job.file_path}>
        <MayChange of="transfers">
          {!hasEnded(job) && <StopButton jobId={jobId} />}
          {failures.length > 0 && <RedeliverButton jobId={jobId} count={failures.length} />}
        </MayChange>
      </PageHead>
      <Panel title={t('transfers.job.title')} extra={<StatusPill status={job.status} />}>
        <JobFacts job={job} />
      </Panel>
      <Panel title={t('transfers.targets', { count: job.targets, targets: format.number(job.targets) })}>
        <Legend counts={counts} shown={shown} onShow={setShown} />
        <TargetMap targets={targets} shown={shown} />
      </Panel>
      {failures.length > 0 && (
        <Panel title={t('transfers.reasons.title')}>
          <FailureGroups failures={failures} chosen={reason} onChoose={setReason} />
        </Panel>
      )}
      {(listed.length > 0 || shown !== null) && (
        <Panel title={heading}>
          <TargetTable
            key={`${shown ?? 'failures'} ${reason}`}
            targets={listed}
            label={heading}
            places={job.places.length > 1}
          />
        </Panel>
      )}
    </>
  )
}

function StopButton({ jobId }: { jobId: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { problem: onError } = useToasts()
  const stop = useOnce({
    mutationFn: () => cancelTransferJob(jobId),
    onSuccess: (job) => client.setQueryData(['transfer-job', jobId], job),
    onError,
  })
  return (
    <Popconfirm
      title={t('transfers.job.stop_question')}
      okText={t('transfers.job.stop')}
      cancelText={t('transfers.job.keep_going')}
      okButtonProps={{ danger: true }}
      onConfirm={() => stop.mutate()}
    >
      <Button danger icon={<StopOutlined />} loading={stop.isPending}>
        {t('transfers.job.stop')}
      </Button>
    </Popconfirm>
  )
}
