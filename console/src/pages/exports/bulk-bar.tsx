import { DeleteOutlined, RedoOutlined, StopOutlined } from '@ant-design/icons'
import { useTranslation } from 'react-i18next'
import { type BulkAction, changeExports, type ExportFilter } from '../../api/exports.ts'
import { BulkArea, type Picked } from '../../parts/bulk/bulk-area.tsx'
import { bulkOfFilter, bulkOfIds } from '../../parts/bulk/use-bulk.ts'

const ICONS = { retry: <RedoOutlined />, cancel: <StopOutlined />, delete_file: <DeleteOutlined /> }
const ACTIONS = Object.keys(ICONS) as BulkAction[]

/** What can be done to many exports at once. */
export function ExportBulk({ filter, ...picked }: Picked & { filter: ExportFilter }) {
  const { t } = useTranslation()
  const answers = (action: BulkAction, signal: AbortSignal) => {
    if (!picked.everything)
      return bulkOfIds([...picked.selected], (ids) => changeExports({ action, ids }, signal), signal)
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
