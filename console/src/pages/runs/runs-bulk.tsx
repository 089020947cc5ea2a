import {
  CaretRightOutlined,
  DeleteOutlined,
  RedoOutlined,
  StepForwardOutlined,
  StopOutlined,
} from '@ant-design/icons'
import { useTranslation } from 'react-i18next'
import { Problem } from '../../api/problem.ts'
import { type Account, changeRuns, deleteAccount, type RunBulkRequest } from '../../api/runs.ts'
import { BulkArea, type Picked } from '../../parts/bulk/bulk-area.tsx'
import { type BulkAnswer, bulkOfIds } from '../../parts/bulk/use-bulk.ts'
import { RUNS_KEY } from './patch.ts'

const ICONS = {
  start: <CaretRightOutlined />,
  continue: <StepForwardOutlined />,
  retry: <RedoOutlined />,
  stop: <StopOutlined />,
  delete: <DeleteOutlined />,
} satisfies Record<RunBulkRequest['action'] | 'delete', unknown>
type Action = keyof typeof ICONS
const ACTIONS = Object.keys(ICONS) as Action[]

const FITS: Record<Action, (account: Account) => boolean> = {
  start: ({ locked }) => !locked,
  continue: ({ locked, run_id }) => !locked && run_id !== null,
  retry: ({ locked, progress }) => !locked && progress.failed > 0,
  stop: ({ locked }) => locked,
  delete: ({ locked }) => !locked,
}

/** What can be done to many accounts at once. `matching`: those that the filter shows, on later pages too. */
export function RunsBulk({ matching, ...picked }: Picked & { matching: readonly Account[] }) {
  const { t } = useTranslation()
  const accounts = picked.everything ? matching : matching.filter(({ handle }) => picked.selected.has(handle))
  const fitting = (action: Action) => accounts.filter(FITS[action]).map(({ handle }) => handle)
  const send = (action: Action, some: string[], signal: AbortSignal) =>
    action === 'delete' ? deleteAll(some, signal) : changeRuns({ action, handles: some }, signal)
  return (
    <BulkArea
      {...picked}
      choices={ACTIONS.map((action) => ({
        action,
        name: t(`runs.bulk.action.${action}`),
        icon: ICONS[action],
        danger: action === 'delete',
        fits: fitting(action).length,
        waits: action === 'stop' || action === 'delete',
        answers: (signal) =>
          bulkOfIds<BulkAnswer>(fitting(action), (some) => send(action, some, signal), signal),
      }))}
      words={{
        title: t('runs.bulk.title'),
        wait: (action, values) =>
          action === 'stop' || action === 'delete' ? t(`runs.bulk.wait.${action}`, { ...values }) : '',
        done: (action, values) => t(`runs.bulk.done.${action}`, { ...values }),
      }}
      changes={RUNS_KEY}
    />
  )
}

/** One after the other: an account that is busy is refused, and the others go on. */
async function deleteAll(handles: readonly string[], signal: AbortSignal): Promise<BulkAnswer> {
  const items: { error: { code: string } | null }[] = []
  for (const handle of handles) {
    if (signal.aborted) break
    try {
      await deleteAccount(handle)
      items.push({ error: null })
    } catch (error) {
      const isRefused = error instanceof Problem && error.status >= 400 && error.status < 500
      if (!isRefused || error.status === 429) throw error
      items.push({ error: { code: error.code } })
    }
  }
  const done = items.filter(({ error }) => error === null).length
  return { done, skipped: items.length - done, items }
}
