import { useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { ExportTask } from '../../api/exports.ts'
import { useCommands } from '../../live/commands.ts'
import { useMayChange } from '../../live/may-change.tsx'
import { useExportActions } from './use-export-actions.ts'

/** What can be done with the export of this page, in the command palette. */
export function useExportCommands(task: ExportTask): void {
  const { t } = useTranslation()
  const actions = useExportActions(task)
  const latest = useRef(actions)
  latest.current = actions
  const hasFile = task.download_url !== null
  const canRetry = useMayChange('exports') && (task.status === 'failed' || task.status === 'cancelled')
  useCommands(
    useMemo(
      () => [
        ...(hasFile
          ? [
              { id: 'download', title: t('exports.action.download'), run: () => latest.current.download() },
              { id: 'copy-link', title: t('exports.action.copy_link'), run: () => latest.current.copyLink() },
            ]
          : []),
        ...(canRetry
          ? [{ id: 'retry', title: t('exports.action.retry'), run: () => latest.current.retry.mutate() }]
          : []),
      ],
      [hasFile, canRetry, t],
    ),
  )
}
