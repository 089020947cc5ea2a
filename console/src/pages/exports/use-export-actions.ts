import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { cancelExport, deleteFile, type ExportTask, getExport, retryExport } from '../../api/exports.ts'
import { useOnce } from '../../live/use-once.ts'
import { useToasts } from '../../parts/dialog/toasts.tsx'
import { copyText } from '../../parts/text/copy-text.ts'
import { patchTask } from './patch.ts'

/** Cancel, retry, download, copy the link, delete the file. What the server answers is shown at once; events bring the rest. */
export function useExportActions({ task_id: taskId }: ExportTask) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const client = useQueryClient()
  const onError = toasts.problem
  const onSuccess = (answer: ExportTask) => patchTask(client, taskId, () => answer)
  const cancel = useOnce({ mutationFn: () => cancelExport(taskId), onSuccess, onError })
  const retry = useOnce({
    mutationFn: () => retryExport(taskId),
    onSuccess: (answer) => {
      onSuccess(answer)
      toasts.success(t('exports.retried'))
    },
    onError,
  })
  const remove = useOnce({
    mutationFn: () => deleteFile(taskId),
    onSuccess: () => patchTask(client, taskId, (task) => ({ ...task, download_url: null })),
    onError,
  })
  /** Asked for anew each time: an address is good for a quarter of an hour only. */
  const freshUrl = async () => {
    const { download_url: url } = await getExport(taskId)
    if (url === null) throw new Error(t('exports.no_file'))
    return url
  }
  const download = () =>
    void freshUrl().then((url) => {
      const link = document.createElement('a')
      link.href = sameOrigin(url)
      link.download = ''
      link.click()
    }, onError)
  const copyLink = () =>
    void freshUrl()
      .then((url) => copyText(url))
      .then(() => toasts.success(t('exports.link_copied')), onError)
  return { cancel, retry, remove, download, copyLink }
}

/** The page may be reached by another name than the server knows of itself. */
function sameOrigin(url: string): string {
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}
