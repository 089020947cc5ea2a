import { RedoOutlined } from '@ant-design/icons'
import { useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { redeliver } from '../../../api/transfers.ts'
import { useMadeOnce, useOnce } from '../../../live/use-once.ts'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { jobAddress } from '../address.ts'
import { TRANSFERS_KEY } from '../patch.ts'

/** The same file again to those that did not get it. The page of the new delivery comes next. */
export function RedeliverButton({ jobId, count }: { jobId: string; count: number }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const client = useQueryClient()
  const { success, problem: onError } = useToasts()
  const make = useMadeOnce(redeliver)
  const again = useOnce({
    mutationFn: () => make(jobId),
    onSuccess: ({ job_id, targets, refused }) => {
      const words = refused.length > 0 ? 'transfers.redeliver.some_refused' : 'transfers.redeliver.done'
      success(t(words, { count: targets, refused: refused.length }))
      void client.invalidateQueries({ queryKey: TRANSFERS_KEY })
      go(jobAddress(job_id))
    },
    onError,
  })
  return (
    <Button type="primary" icon={<RedoOutlined />} loading={again.isPending} onClick={() => again.mutate()}>
      {t('transfers.redeliver.action', { count })}
    </Button>
  )
}
