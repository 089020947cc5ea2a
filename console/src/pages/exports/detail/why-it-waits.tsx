import { useQuery } from '@tanstack/react-query'
import { Alert } from 'antd'
import { useTranslation } from 'react-i18next'
import { type ExportTask, getPosition } from '../../../api/exports.ts'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { useTicking } from '../../../parts/text/ticking.ts'
import { waitText } from '../../../parts/text/wait-text.ts'

/** The queue moves with other exports' ends, which this page is not told of. */
const AGAIN_MS = 2_000

/** What is away that it cannot go on without, or else its place in the queue and the limit that holds it there. */
export function WhyItWaits({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const away = task.waiting_for
  if (!away) return <Place taskId={task.task_id} />
  return (
    <Alert
      type="warning"
      showIcon
      className="detail-waits-for"
      title={waitText(t, away)}
      description={
        <>
          <div>
            <FailureText error={away} />
          </div>
          {away.next_try_at && <NextTry at={away.next_try_at} />}
        </>
      }
    />
  )
}

function NextTry({ at }: { at: string }) {
  const { t } = useTranslation()
  const when = useFormat().ago(at, useTicking())
  const isNow = when === null || Date.parse(at) < Date.now()
  return <div>{isNow ? t('exports.next_try_now') : t('exports.next_try', { when })}</div>
}

function Place({ taskId }: { taskId: string }) {
  const { t } = useTranslation()
  const { data } = useQuery({
    queryKey: ['export', taskId, 'position'],
    queryFn: ({ signal }) => getPosition(taskId, signal),
    refetchInterval: AGAIN_MS,
  })
  if (!data) return null
  return (
    <p className="detail-waits">
      {data.held_by === 'quota'
        ? t('exports.waits_for.quota')
        : data.held_by === 'exports_at_once'
          ? t('exports.waits_for_limit', {
              position: data.position,
              running: data.running,
              limit: data.limit ?? '∞',
            })
          : t('exports.waits_for_nothing')}
    </p>
  )
}
