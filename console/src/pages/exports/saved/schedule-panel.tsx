import { useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { putSaved, type SavedExport } from '../../../api/saved.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { useOnce } from '../../../live/use-once.ts'
import { Panel } from '../../../parts/panel.tsx'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import '../make/make.css'
import { fromRequest } from '../make/from-request.ts'
import { ownTimeZone } from '../make/time-zone-select.tsx'
import { toRequest, writeRequest } from '../make/to-request.ts'
import { asWritten } from '../make/use-start.ts'
import { ScheduleEditor } from './schedule-editor.tsx'
import { fromSchedule, type ScheduleFields, toSchedule } from './schedule-model.ts'
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
  const client = useQueryClient()
  const scheduleText = useScheduleText()
  const [editing, setEditing] = useState<ScheduleFields | null>(null)
  const put = useOnce({
    mutationFn: (fields: ScheduleFields) => {
      const schedule = toSchedule(fields)
      return putSaved(
        projectId,
        saved.name,
        writeRequest({ ...sameRequest(saved), ...(schedule && { schedule }) }),
      )
    },
    onSuccess: async () => {
      setEditing(null)
      await client.invalidateQueries({ queryKey: ['saved', projectId] })
    },
  })
  return (
    <Panel title={t('make.schedule.title')}>
      {editing ? (
        <>
          <ScheduleEditor value={editing} onChange={setEditing} />
          {put.error && <ProblemNote error={put.error} />}
          <div className="saved-schedule-actions">
            <Button type="primary" loading={put.isPending} onClick={() => put.mutate(editing)}>
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
            </>
          )}
          <MayChange of="exports">
            <Button
              className="make-gap"
              onClick={() =>
                setEditing({
                  timezone: ownTimeZone(),
                  ...fromSchedule(saved.schedule),
                  ...(!saved.schedule && { every: 'month' }),
                })
              }
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
