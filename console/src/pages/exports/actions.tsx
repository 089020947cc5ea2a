import { DeleteOutlined, DownloadOutlined, LinkOutlined, RedoOutlined, StopOutlined } from '@ant-design/icons'
import { useTranslation } from 'react-i18next'
import type { ExportTask } from '../../api/exports.ts'
import { useMayChange } from '../../live/may-change.tsx'
import { Action, Actions } from '../../parts/dialog/action.tsx'
import { useExportActions } from './use-export-actions.ts'

/** What can be done with an export now. */
export function ExportActions({ task, words = false }: { task: ExportTask; words?: boolean }) {
  const { t } = useTranslation()
  const { cancel, retry, remove, download, copyLink } = useExportActions(task)
  const mayChange = useMayChange('exports')
  const ended = task.finished_at !== null || !['pending', 'processing'].includes(task.status)
  return (
    <Actions words={words}>
      {task.download_url && (
        <>
          <Action
            icon={<DownloadOutlined />}
            name={t('exports.action.download')}
            words={words}
            main
            onClick={download}
          />
          <Action
            icon={<LinkOutlined />}
            name={t('exports.action.copy_link')}
            words={words}
            onClick={copyLink}
          />
        </>
      )}
      {mayChange && (task.status === 'failed' || task.status === 'cancelled') && (
        <Action
          icon={<RedoOutlined />}
          name={t('exports.action.retry')}
          words={words}
          busy={retry.isPending}
          onClick={() => retry.mutate()}
        />
      )}
      {mayChange && task.download_url && words && (
        <Action
          icon={<DeleteOutlined />}
          name={t('exports.action.delete_file')}
          words
          danger
          busy={remove.isPending}
          confirm={{ question: t('exports.delete_question'), keep: t('exports.keep_file') }}
          onClick={() => remove.mutate()}
        />
      )}
      {mayChange && !ended && (
        <Action
          icon={<StopOutlined />}
          name={t('exports.action.cancel')}
          words={words}
          danger
          busy={cancel.isPending}
          confirm={{ question: t('exports.cancel_question'), keep: t('exports.keep_going') }}
          onClick={() => cancel.mutate()}
        />
      )}
    </Actions>
  )
}
