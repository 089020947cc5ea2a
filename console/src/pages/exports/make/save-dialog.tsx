import { Alert, Button, Input } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { addressOf } from '../../../live/page-address.ts'
import { Dialog } from '../../../parts/dialog/dialog.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { ChangedNote } from '../saved/changed-note.tsx'
import { ScheduleEditor } from '../saved/schedule-editor.tsx'
import { fromSchedule, toSchedule } from '../saved/schedule-model.ts'
import { usePutSaved } from '../saved/use-put-saved.ts'
import { ownTimeZone } from './fields/time-zone-select.tsx'
import type { FixedDate } from './request/fixed-dates.ts'
import { forgetDraft } from './request/stored-draft.ts'
import { writeRequest } from './request/to-request.ts'
import type { Maker } from './use-maker.ts'

/** Keeps the request under a name, and says when it runs by itself. */
export function SaveDialog({ maker, onClose }: { maker: Maker; onClose(): void }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const { saved } = maker.start
  const [name, setName] = useState(saved?.name ?? '')
  const [schedule, setSchedule] = useState(() =>
    saved ? fromSchedule(saved.schedule) : { ...fromSchedule(null), timezone: ownTimeZone() },
  )
  const [dates, setDates] = useState(() => maker.dates())
  const { put, changed } = usePutSaved(maker.projectId, (name) => {
    forgetDraft(maker.start.of)
    go(addressOf('/saved/exports', name))
  })
  const save = (anyway: boolean) => {
    const times = toSchedule(schedule)
    const json = writeRequest({ ...maker.request(), ...(times && { schedule: times }) })
    put.mutate({ name: name.trim(), json, since: saved ? maker.start.since : null, anyway })
  }
  return (
    <Dialog
      title={saved ? t('make.save_changes') : t('make.saving.title')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('make.cancel')}</Button>
          <Button
            type="primary"
            disabled={name.trim() === ''}
            loading={put.isPending}
            onClick={() => save(false)}
          >
            {t('make.saving.go')}
          </Button>
        </>
      }
    >
      <label className="make-label" htmlFor="saved-name">
        {t('make.saving.name')}
      </label>
      <Input
        id="saved-name"
        value={name}
        disabled={saved !== null}
        placeholder={t('make.saving.name_hint')}
        onChange={(event) => {
          put.reset()
          setName(event.target.value)
        }}
      />
      <h3 className="make-subhead">{t('make.schedule.title')}</h3>
      <ScheduleEditor value={schedule} onChange={setSchedule} />
      {schedule.every !== 'never' && dates.length > 0 && (
        <FixedDates
          dates={dates}
          onReplace={() => {
            maker.replaceDates()
            setDates(maker.dates())
          }}
        />
      )}
      {changed !== null && <ChangedNote at={changed} isNew={saved === null} onAnyway={() => save(true)} />}
      {put.error && <ProblemNote error={put.error} />}
    </Dialog>
  )
}

/** A schedule with dates that stay what they are makes the same file for ever. */
function FixedDates({ dates, onReplace }: { dates: readonly FixedDate[]; onReplace(): void }) {
  const { t } = useTranslation()
  const known = dates.filter(({ word }) => word !== null)
  return (
    <Alert
      className="make-gap"
      type="warning"
      showIcon
      title={t('make.saving.fixed', { dates: dates.map(({ date }) => date).join(', ') })}
      description={
        known.length > 0 && (
          <>
            <p>{t('make.saving.fixed_text')}</p>
            <ul className="make-fixed">
              {known.map(({ date, word }) => (
                <li key={date}>
                  {date} → {t(`make.date.${(word ?? '').replace('.', '_') as 'today'}`)}
                </li>
              ))}
            </ul>
            <Button size="small" onClick={onReplace}>
              {t('make.saving.replace')}
            </Button>
          </>
        )
      }
    />
  )
}
