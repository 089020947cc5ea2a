import { Button } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SavedExport } from '../../../api/saved.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import '../make/make.css'
import { ownTimeZone } from '../make/fields/time-zone-select.tsx'
import { fromRequest } from '../make/request/from-request.ts'
import { toRequest, writeRequest } from '../make/request/to-request.ts'
import { asWritten } from '../make/use-start.ts'
import { ChangedNote } from './changed-note.tsx'
import { ScheduleEditor } from './schedule-editor.tsx'
import { fromSchedule, type ScheduleFields, toSchedule } from './schedule-model.ts'
import { usePutSaved } from './use-put-saved.ts'
import { useScheduleText } from './use-schedule-text.ts'

/** When it runs by itself, and the next times. The request stays as it is, with the secrets that the server has. */
export function SchedulePanel({
  saved,
  projectId,
}: {
  saved: SavedExport & { text: string }
  projectId: string
}) {
  const { t, i18n } = useTranslation()
  // On the clock that the schedule goes by.
  const zoned = new Intl.DateTimeFormat(i18n.language, {
    dateStyle: 'full',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: saved.schedule?.timezone ?? 'UTC',
  })
  const scheduleText = useScheduleText()
  const [editing, setEditing] = useState<ScheduleFields | null>(null)
  // The page follows what others save; what is being changed began with this version.
  const [since, setSince] = useState(saved.etag)
  const { put, changed } = usePutSaved(projectId, () => setEditing(null))
  const save = (fields: ScheduleFields, anyway: boolean) => {
    const schedule = toSchedule(fields)
    const json = writeRequest({ ...sameRequest(saved), ...(schedule && { schedule }) })
    put.mutate({ name: saved.name, json, since, anyway })
  }
  return (
    <Panel title={t('make.schedule.title')}>
      {editing ? (
        <>
          <ScheduleEditor value={editing} onChange={setEditing} />
          {changed !== null && <ChangedNote at={changed} onAnyway={() => save(editing, true)} />}
          {put.error && <ProblemNote error={put.error} />}
          <div className="saved-schedule-actions">
            <Button type="primary" loading={put.isPending} onClick={() => save(editing, false)}>
              {t('make.saving.go')}
            </Button>
            <Button onClick={() => setEditing(null)}>{t('make.cancel')}</Button>
          </div>
        </>
      ) : (
        <>
          <p>{scheduleText(saved.schedule)}</p>
          {saved.next_runs.length > 0 && (
            <>
              <h3 className="make-subhead">{t('make.saved.next_runs')}</h3>
              <ol className="saved-next">
                {saved.next_runs.map((time) => (
                  <li key={time}>{zoned.format(new Date(time))}</li>
                ))}
              </ol>
              <p className="quiet">{t('make.saved.zone', { zone: saved.schedule?.timezone ?? 'UTC' })}</p>
            </>
          )}
          <MayChange of="exports">
            <Button
              className="make-gap"
              onClick={() => {
                put.reset()
                setSince(saved.etag)
                setEditing({
                  timezone: ownTimeZone(),
                  ...fromSchedule(saved.schedule),
                  ...(!saved.schedule && { every: 'month' }),
                })
              }}
            >
              {t('make.schedule.change')}
            </Button>
          </MayChange>
        </>
      )}
    </Panel>
  )
}

function sameRequest(saved: SavedExport & { text: string }): object {
  const { fields, template } = fromRequest(saved.request, saved)
  const typed = template === '' ? '' : asWritten(saved.text, 'request.template')
  return toRequest(fields, typed, { saved_export: saved.name })
}
