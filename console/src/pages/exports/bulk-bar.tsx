import { CloseOutlined, DeleteOutlined, RedoOutlined, StopOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { BulkAction, ExportFilter } from '../../api/exports.ts'
import { useFormat } from '../../parts/format.ts'
import { useProblemText } from '../../parts/problem-text.ts'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { type Total, totalText } from './total-text.ts'
import { type Bulk, type Chosen, useBulk } from './use-bulk.ts'

interface Props {
  selected: ReadonlySet<string>
  /** All that match are meant, not only those that were ticked. */
  everything: boolean
  total: Total | undefined
  filter: ExportFilter
  onEverything(): void
  onClear(): void
}

/** What can be done to the rows that are selected, and how far it is. */
export function BulkArea(props: Props) {
  const { bulk, start, stop, close } = useBulk()
  if (bulk) return <BulkProgress bulk={bulk} onStop={stop} onClose={close} />
  if (props.selected.size === 0) return null
  const begin = (action: BulkAction, chosen: Chosen) => {
    start(action, chosen)
    props.onClear()
  }
  return <BulkBar {...props} onStart={begin} />
}

function BulkBar({
  selected,
  everything,
  total,
  filter,
  onEverything,
  onStart,
  onClear,
}: Props & { onStart(action: BulkAction, chosen: Chosen): void }) {
  const { t } = useTranslation()
  const format = useFormat()
  const all = total ?? { count: selected.size, exact: true }
  const count = everything ? totalText(all, format.number) : format.number(selected.size)
  const start = (action: BulkAction) =>
    onStart(action, everything ? { filter, ...all } : { ids: [...selected] })
  return (
    <div className="bulk-bar" role="toolbar" aria-label={t('lists.bulk.title')}>
      <strong>
        {t('lists.bulk.selected', { count: everything ? all.count : selected.size, shown: count })}
      </strong>
      {!everything && (all.count > selected.size || !all.exact) && (
        <Button type="link" size="small" onClick={onEverything}>
          {t('lists.bulk.everything', { count: all.count, shown: totalText(all, format.number) })}
        </Button>
      )}
      <span className="bulk-bar-actions">
        <Button size="small" icon={<RedoOutlined />} onClick={() => start('retry')}>
          {t('lists.bulk.action.retry')}
        </Button>
        <Button size="small" icon={<StopOutlined />} onClick={() => start('cancel')}>
          {t('lists.bulk.action.cancel')}
        </Button>
        <Button size="small" danger icon={<DeleteOutlined />} onClick={() => start('delete_file')}>
          {t('lists.bulk.action.delete_file')}
        </Button>
      </span>
      <Button
        type="text"
        size="small"
        icon={<CloseOutlined />}
        aria-label={t('lists.bulk.clear')}
        onClick={onClear}
      />
    </div>
  )
}

/** How far it is, or how long it can still be called off. */
function BulkProgress({ bulk, onStop, onClose }: { bulk: Bulk; onStop(): void; onClose(): void }) {
  const { t } = useTranslation()
  const format = useFormat()
  const words = useProblemText()
  const seconds = useSecondsUntil(bulk.phase === 'wait' ? bulk.startsAt : 0)
  const { action, phase, chosen, done, skipped } = bulk
  const total = 'ids' in chosen ? chosen.ids.length : chosen.count
  const values = { done: format.number(done), total: format.number(total), seconds, count: done }
  const reasons = [...bulk.reasons].map(
    ([code, times]) => `${words({ code, message: '' }).title} (${format.number(times)})`,
  )
  return (
    <div className="bulk-bar" role="status" data-phase={phase}>
      <span>
        {phase === 'wait' && t(`lists.bulk.wait.${action}`, { count: total, total: values.total, seconds })}
        {phase === 'run' && t('lists.bulk.run', values)}
        {phase === 'done' && t(`lists.bulk.done.${action}`, values)}
        {phase === 'stopped' && t('lists.bulk.stopped', values)}
        {phase === 'failed' && `${t('lists.bulk.stopped', values)}: ${words(bulk.problem).title}`}
        {skipped > 0 && (
          <span className="quiet" title={reasons.join('\n')}>
            {' · '}
            {t('lists.bulk.skipped', { count: skipped, shown: format.number(skipped) })}
            {reasons[0] && `: ${reasons[0]}`}
          </span>
        )}
      </span>
      {phase === 'run' && (
        <span className="bulk-bar-progress">
          <ProgressBar
            label={t('lists.bulk.title')}
            fraction={Math.min(1, (done + skipped) / Math.max(1, total))}
          />
        </span>
      )}
      <span className="bulk-bar-actions">
        {phase === 'wait' && (
          <Button size="small" type="primary" onClick={onStop}>
            {t('lists.bulk.undo')}
          </Button>
        )}
        {phase === 'run' && (
          <Button size="small" onClick={onStop}>
            {t('lists.bulk.stop')}
          </Button>
        )}
      </span>
      {phase !== 'wait' && phase !== 'run' && (
        <Button
          type="text"
          size="small"
          icon={<CloseOutlined />}
          aria-label={t('common.close')}
          onClick={onClose}
        />
      )}
    </div>
  )
}

function useSecondsUntil(at: number): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (at === 0) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [at])
  return Math.max(0, Math.ceil((at - now) / 1_000))
}
