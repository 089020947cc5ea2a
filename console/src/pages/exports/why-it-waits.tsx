import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { getPosition } from '../../api/exports.ts'

/** The queue moves with other exports' ends, which this page is not told of. */
const AGAIN_MS = 2_000

/** Its place in the queue, and the limit that holds it there. */
export function WhyItWaits({ taskId }: { taskId: string }) {
  const { t } = useTranslation()
  const { data } = useQuery({
    queryKey: ['export', taskId, 'position'],
    queryFn: ({ signal }) => getPosition(taskId, signal),
    refetchInterval: AGAIN_MS,
  })
  if (!data) return null
  return (
    <p className="detail-waits">
      {data.held_by === 'exports_at_once'
        ? t('exports.waits_for_limit', {
            position: data.position,
            running: data.running,
            limit: data.limit ?? '∞',
          })
        : t('exports.waits_for_nothing')}
    </p>
  )
}
