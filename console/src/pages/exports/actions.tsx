import { DeleteOutlined, DownloadOutlined, LinkOutlined, RedoOutlined, StopOutlined } from '@ant-design/icons'
import { Button, Popconfirm, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { ExportTask } from '../../api/exports.ts'
import { useExportActions } from './use-export-actions.ts'

/** What can be done with an export now. */
export function ExportActions({ task, words = false }: { task: ExportTask; words?: boolean }) {
  const { t } = useTranslation()
  const { cancel, retry, remove, download, copyLink } = useExportActions(task)
  const ended = task.finished_at !== null || !['pending', 'processing'].includes(task.status)
  return (
    <span className="exports-actions" data-words={words}>
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
          {words && (
            <Popconfirm
              title={t('exports.delete_question')}
              okText={t('exports.action.delete_file')}
              cancelText={t('exports.keep_file')}
              okButtonProps={{ danger: true }}
              onConfirm={() => remove.mutate()}
            >
              <Button danger icon={<DeleteOutlined />} loading={remove.isPending}>
                {t('exports.action.delete_file')}
              </Button>
            </Popconfirm>
          )}
        </>
      )}
      {(task.status === 'failed' || task.status === 'cancelled') && (
        <Action
          icon={<RedoOutlined />}
          name={t('exports.action.retry')}
          words={words}
          busy={retry.isPending}
          onClick={() => retry.mutate()}
        />
      )}
      {!ended && (
        <Popconfirm
          title={t('exports.cancel_question')}
          okText={t('exports.action.cancel')}
          cancelText={t('exports.keep_going')}
          okButtonProps={{ danger: true }}
          onConfirm={() => cancel.mutate()}
        >
          <Button
            type={words ? 'default' : 'text'}
            danger
            icon={<StopOutlined />}
            loading={cancel.isPending}
            aria-label={t('exports.action.cancel')}
          >
            {words && t('exports.action.cancel')}
          </Button>
        </Popconfirm>
      )}
    </span>
  )
}

function Action({
  icon,
  name,
  words,
  main = false,
  busy = false,
  onClick,
}: {
  icon: ReactNode
  name: string
  words: boolean
  main?: boolean
  busy?: boolean
  onClick(): void
}) {
  const button = (
    <Button
      type={words ? (main ? 'primary' : 'default') : 'text'}
      icon={icon}
      aria-label={name}
      loading={busy}
      onClick={onClick}
    >
      {words && name}
    </Button>
  )
  return words ? button : <Tooltip title={name}>{button}</Tooltip>
}
