import { DeleteOutlined, RedoOutlined, StopOutlined } from '@ant-design/icons'
import { useTranslation } from 'react-i18next'
import { type BulkAction, changeExports, type ExportFilter, type ExportTask } from '../../../api/exports.ts'
import { BulkArea, type Picked } from '../../../parts/bulk/bulk-area.tsx'
import { bulkOfFilter, bulkOfIds } from '../../../parts/bulk/use-bulk.ts'

const ICONS = { retry: <RedoOutlined />, cancel: <StopOutlined />, delete_file: <DeleteOutlined /> }
const ACTIONS = Object.keys(ICONS) as BulkAction[]

/** As the server decides: to the others nothing is done. */
const FITS: Record<BulkAction, (task: ExportTask) => boolean> = {
  retry: ({ status }) => status === 'failed' || status === 'cancelled',
  cancel: ({ status }) => status === 'pending' || status === 'processing',
  delete_file: ({ download_url }) => download_url !== null,
}

/** Of all that match only their status is known, and only if the filter names one. */
function fitsFilter(action: BulkAction, { status }: ExportFilter): 0 | undefined {
  if (status === undefined) return undefined
  const download_url = status === 'succeeded' ? '' : null
  return FITS[action]({ status, download_url } as ExportTask) ? undefined : 0
}

/** What can be done to many exports at once. */
export function ExportBulk({
  filter,
  rows,
  ...picked
}: Picked & { filter: ExportFilter; rows: readonly ExportTask[] }) {
  const { t } = useTranslation()
  const fitting = (action: BulkAction) => rows.filter((task) => FITS[action](task))
  const answers = (action: BulkAction, signal: AbortSignal) => {
    if (!picked.everything) {
      const ids = fitting(action).map(({ task_id }) => task_id)
      return bulkOfIds(ids, (some) => changeExports({ action, ids: some }, signal), signal)
    }
    const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
    return bulkOfFilter(
      (cursor) => changeExports({ action, filter: asked, ...(cursor !== undefined && { cursor }) }, signal),
      signal,
    )
  }
  return (
    <BulkArea
      {...picked}
      choices={ACTIONS.map((action) => ({
        action,
        name: t(`lists.bulk.action.${action}`),
        icon: ICONS[action],
        danger: action === 'delete_file',
        fits: picked.everything ? fitsFilter(action, filter) : fitting(action).length,
        waits: action !== 'retry',
        answers: (signal) => answers(action, signal),
      }))}
      words={{
        title: t('lists.bulk.title'),
        wait: (action, values) => t(`lists.bulk.wait.${action}`, { ...values }),
        done: (action, values) => t(`lists.bulk.done.${action}`, { ...values }),
      }}
      changes={['exports']}
    />
  )
}
