import { DownloadOutlined, StopOutlined } from '@ant-design/icons'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button, Popconfirm } from 'antd'
import { useTranslation } from 'react-i18next'
import { cancelTask, resultAddress, type Task } from '../../api/tasks.ts'
import { useToasts } from '../../parts/toasts.tsx'
import { TASKS_KEY } from './patch.ts'

/** The result when there is one; a stop while there is none. */
export function TaskActions({ task: { task_id: taskId, status, file_name: file } }: { task: Task }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { problem: onError } = useToasts()
  const cancel = useMutation({
    mutationFn: () => cancelTask(taskId),
    onSuccess: () => client.invalidateQueries({ queryKey: TASKS_KEY }),
    onError,
  })
  const download = useMutation({
    mutationFn: () => resultAddress(taskId),
    onSuccess: (address) => {
      const link = document.createElement('a')
      link.href = address
      link.download = ''
      link.click()
    },
    onError,
  })
  if (status === 'COMPLETED') {
    const action = t('processing.action.download')
    return (
      <Button
        size="small"
        icon={<DownloadOutlined />}
        loading={download.isPending}
        aria-label={t('processing.of_file', { action, file })}
        onClick={() => download.mutate()}
      >
        {action}
      </Button>
    )
  }
  if (status === 'FAILED') return null
  return (
    <Popconfirm
      title={t('processing.cancel_question')}
      okText={t('processing.action.cancel')}
      cancelText={t('processing.keep_going')}
      okButtonProps={{ danger: true }}
      onConfirm={() => cancel.mutate()}
    >
      <Button
        size="small"
        danger
        icon={<StopOutlined />}
        loading={cancel.isPending}
        aria-label={t('processing.of_file', { action: t('processing.action.cancel'), file })}
      >
        {t('processing.action.cancel')}
      </Button>
    </Popconfirm>
  )
}
