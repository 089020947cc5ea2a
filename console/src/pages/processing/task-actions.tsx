import { DeleteOutlined, DownloadOutlined, RedoOutlined, StopOutlined } from '@ant-design/icons'
import { useQueryClient } from '@tanstack/react-query'
import { Button, Popconfirm } from 'antd'
import { useTranslation } from 'react-i18next'
import { cancelTask, deleteTask, resultAddress, retryTask, type Task } from '../../api/tasks.ts'
import { useMayChange } from '../../live/may-change.tsx'
import { useMadeOnce, useOnce } from '../../live/use-once.ts'
import { useToasts } from '../../parts/dialog/toasts.tsx'
import { TASKS_KEY } from './patch.ts'

interface Props {
  task: Task
  /** On a page of its own: all that can be done, with buttons of the usual size. */
  whole?: boolean
  onRetried?(made: Task): void
  onDeleted?(): void
}

/** The result when there is one, another try when it failed, a stop while it is under way. */
export function TaskActions({ task, whole = false, onRetried, onDeleted }: Props) {
  const { t } = useTranslation()
  const { task_id: taskId, status, file_name: file } = task
  const { cancel, download, retry, remove } = useTaskActions(task, { onRetried, onDeleted })
  const looks = (action: string) => ({
    ...(!whole && { size: 'small' as const }),
    'aria-label': t('processing.of_file', { action, file }),
    children: action,
  })
  const mayChange = useMayChange('processing')
  const ended = status === 'COMPLETED' || status === 'FAILED'
  return (
    <span className="processing-actions" data-task={taskId}>
      {status === 'COMPLETED' && (
        <Button
          {...looks(t('processing.action.download'))}
          {...(whole && { type: 'primary' as const })}
          icon={<DownloadOutlined />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        />
      )}
      {mayChange && status === 'FAILED' && (
        <Button
          {...looks(t('processing.action.retry'))}
          {...(whole && { type: 'primary' as const })}
          icon={<RedoOutlined />}
          loading={retry.isPending}
          onClick={() => retry.mutate()}
        />
      )}
      {mayChange && !ended && (
        <Popconfirm
          title={t('processing.cancel_question')}
          okText={t('processing.action.cancel')}
          cancelText={t('processing.keep_going')}
          okButtonProps={{ danger: true }}
          onConfirm={() => cancel.mutate()}
        >
          <Button
            {...looks(t('processing.action.cancel'))}
            danger
            icon={<StopOutlined />}
            loading={cancel.isPending}
          />
        </Popconfirm>
      )}
      {mayChange && ended && whole && (
        <Popconfirm
          title={t('processing.delete_question')}
          okText={t('processing.action.delete')}
          cancelText={t('processing.keep')}
          okButtonProps={{ danger: true }}
          onConfirm={() => remove.mutate()}
        >
          <Button
            {...looks(t('processing.action.delete'))}
            danger
            icon={<DeleteOutlined />}
            loading={remove.isPending}
          />
        </Popconfirm>
      )}
    </span>
  )
}

function useTaskActions(
  { task_id: taskId, file_name: file }: Task,
  { onRetried, onDeleted }: { onRetried: Props['onRetried']; onDeleted: Props['onDeleted'] },
) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { success, problem: onError } = useToasts()
  const readAgain = () => client.invalidateQueries({ queryKey: TASKS_KEY })
  const cancel = useOnce({ mutationFn: () => cancelTask(taskId), onSuccess: readAgain, onError })
  const download = useOnce({
    mutationFn: () => resultAddress(taskId),
    onSuccess: (address) => {
      const link = document.createElement('a')
      link.href = address
      link.download = ''
      link.click()
    },
    onError,
  })
  const makeAgain = useMadeOnce(retryTask)
  const retry = useOnce({
    mutationFn: () => makeAgain(taskId),
    onSuccess: (made) => {
      success(t('processing.retried'))
      onRetried?.(made)
      return readAgain()
    },
    onError,
  })
  const remove = useOnce({
    mutationFn: () => deleteTask(taskId),
    onSuccess: () => {
      success(t('processing.deleted', { file }))
      onDeleted?.()
      return readAgain()
    },
    onError,
  })
  return { cancel, download, retry, remove }
}
