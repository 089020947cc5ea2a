import { CloseOutlined } from '@ant-design/icons'
import type { QueryKey } from '@tanstack/react-query'
import { Button } from 'antd'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useToasts } from '../dialog/toasts.tsx'
import { ProgressBar } from '../table/progress-bar.tsx'
import { useFormat } from '../text/format.ts'
import { useProblemText } from '../text/problem-text.ts'
import './bulk.css'
import { type Total, totalText } from './total-text.ts'
import { type Bulk, type BulkJob, useBulk } from './use-bulk.ts'

export interface Picked {
  selected: ReadonlySet<string>
  /** All that match are meant, not only those that were ticked. */
  everything: boolean
  total: Total | undefined
  onEverything(): void
  onClear(): void
}

export interface BulkChoice<A extends string> extends Pick<BulkJob<A>, 'action' | 'waits' | 'answers'> {
  name: string
  icon: ReactNode
  danger?: boolean
  /** How many of those that are selected it can be done to; undefined: that is not known here. */
  fits: number | undefined
}

interface Words<A extends string> {
  title: string
  wait(action: A, values: BulkValues): string
  done(action: A, values: BulkValues): string
}

interface BulkValues {
  count: number
  done: string
  total: string
  seconds: number
}

interface Props<A extends string> extends Picked {
  choices: readonly BulkChoice<A>[]
  words: Words<A>
  /** What is read again at the end. */
  changes: QueryKey
}

/** What can be done to the rows that are selected, and how far it is. */
export function BulkArea<A extends string>({ choices, words, changes, ...picked }: Props<A>) {
  const toasts = useToasts()
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const sayEnd = ({ action, phase, done, total, problem }: Bulk<A>) => {
    const values = { done: format.number(done), total: format.number(total), seconds: 0, count: done }
    if (phase === 'done') toasts.success(words.done(action, values))
    if (phase === 'failed')
      toasts.warning(`${t('lists.bulk.stopped', values)}: ${problemText(problem).title}`)
  }
  // Its page was left: its end is said wherever one is by then.
  const { bulk, start, stop, close } = useBulk<A>(changes, sayEnd)
  const isPicked = picked.everything ? picked.total?.count !== 0 : picked.selected.size > 0
  const isOver = bulk !== null && bulk.phase !== 'wait' && bulk.phase !== 'run'
  const wasOver = useRef(false)
  // The next selection takes the place of the result. One that was made before the end hides it, so that it is said elsewhere.
  useEffect(() => {
    if (isOver && isPicked) {
      if (!wasOver.current) sayEnd(bulk)
      close()
    }
    wasOver.current = isOver
  })
  if (bulk && !(isOver && isPicked))
    return <BulkProgress bulk={bulk} words={words} onStop={stop} onClose={close} />
  if (!isPicked) return null
  const begin = ({ action, waits, answers, fits }: BulkChoice<A>) => {
    const total = fits ?? (picked.everything ? (picked.total?.count ?? 0) : picked.selected.size)
    start({ action, waits, answers, total, atMost: fits === undefined })
    picked.onClear()
  }
  return <BulkBar {...picked} title={words.title} choices={choices} onStart={begin} />
}

function BulkBar<A extends string>({
  selected,
  everything,
  total,
  title,
  choices,
  onEverything,
  onStart,
  onClear,
}: Picked & { title: string; choices: readonly BulkChoice<A>[]; onStart(choice: BulkChoice<A>): void }) {
  const { t } = useTranslation()
  const format = useFormat()
  const all = total ?? { count: selected.size, exact: true }
  const offered = choices.filter(({ fits }) => fits !== 0)
  const count = everything ? totalText(all, format.number) : format.number(selected.size)
  return (
    <div className="bulk-bar" role="toolbar" aria-label={title}>
      <strong>
        {t('lists.bulk.selected', { count: everything ? all.count : selected.size, shown: count })}
      </strong>
      {!everything && (all.count > selected.size || !all.exact) && (
        <Button type="link" size="small" onClick={onEverything}>
          {t('lists.bulk.everything', { count: all.count, shown: totalText(all, format.number) })}
        </Button>
      )}
      <span className="bulk-bar-actions">
        {offered.length === 0 && <span className="quiet">{t('lists.bulk.nothing')}</span>}
        {offered.map((choice) => (
          <Button
            key={choice.action}
            size="small"
            danger={choice.danger ?? false}
            icon={choice.icon}
            onClick={() => onStart(choice)}
          >
            {choice.name}
            {choice.fits !== undefined &&
              choice.fits < (everything ? all.count : selected.size) &&
              ` (${format.number(choice.fits)})`}
          </Button>
        ))}
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

/** The second half of a double click was meant for the button that was here before. */
const ifMeant = (act: () => void) => (event: { detail: number }) => {
  if (event.detail < 2) act()
}

/** How far it is, or how long it can still be called off. */
function BulkProgress<A extends string>({
  bulk,
  words,
  onStop,
  onClose,
}: {
  bulk: Bulk<A>
  words: Words<A>
  onStop(): void
  onClose(): void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const seconds = useSecondsUntil(bulk.phase === 'wait' ? bulk.startsAt : 0)
  const { action, phase, total, atMost, done, skipped } = bulk
  const number = format.number(total)
  const values = {
    done: format.number(done),
    total: atMost ? t('lists.bulk.up_to', { total: number }) : number,
    seconds,
    count: done,
  }
  const reasons = [...bulk.reasons].map(
    ([code, times]) => `${problemText({ code, message: '' }).title} (${format.number(times)})`,
  )
  return (
    <div className="bulk-bar" role="status" data-phase={phase}>
      <span>
        {phase === 'wait' && words.wait(action, { ...values, count: total })}
        {phase === 'run' && t('lists.bulk.run', values)}
        {phase === 'done' && words.done(action, values)}
        {phase === 'stopped' && t('lists.bulk.stopped', values)}
        {phase === 'failed' && `${t('lists.bulk.stopped', values)}: ${problemText(bulk.problem).title}`}
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
          <ProgressBar label={words.title} fraction={Math.min(1, (done + skipped) / Math.max(1, total))} />
        </span>
      )}
      <span className="bulk-bar-actions">
        {phase === 'wait' && (
          <Button size="small" type="primary" onClick={ifMeant(onStop)}>
            {t('lists.bulk.undo')}
          </Button>
        )}
        {phase === 'run' && (
          <Button size="small" onClick={ifMeant(onStop)}>
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
