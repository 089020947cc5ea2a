import { useQueryClient } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { putSaved } from '../../../api/saved.ts'
import { useOnce } from '../../../live/use-once.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { ScheduleEditor } from '../saved/schedule-editor.tsx'
import { fromSchedule, toSchedule } from '../saved/schedule-model.ts'
import { forgetDraft } from './stored-draft.ts'
import { ownTimeZone } from './time-zone-select.tsx'
import { writeRequest } from './to-request.ts'
import type { Maker } from './use-maker.ts'

/** Keeps the request under a name, and says when it runs by itself. */
export function SaveDialog({ maker, onClose }: { maker: Maker; onClose(): void }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const client = useQueryClient()
  const { saved } = maker.start
  const [name, setName] = useState(saved?.name ?? '')
  const [schedule, setSchedule] = useState(() =>
    saved ? fromSchedule(saved.schedule) : { ...fromSchedule(null), timezone: ownTimeZone() },
  )
  const put = useOnce({
    mutationFn: () => {
      const times = toSchedule(schedule)
      const request = { ...maker.request(), ...(times && { schedule: times }) }
      return putSaved(maker.projectId, name.trim(), writeRequest(request))
    },
    onSuccess: async () => {
      forgetDraft(maker.start.of)
      await client.invalidateQueries({ queryKey: ['saved', maker.projectId] })
      go(`/saved/exports/${encodeURIComponent(name.trim())}`)
    },
  })
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
            onClick={() => put.mutate()}
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
        onChange={(event) => setName(event.target.value)}
      />
      <h3 className="make-subhead">{t('make.schedule.title')}</h3>
      <ScheduleEditor value={schedule} onChange={setSchedule} />
      {put.error && <ProblemNote error={put.error} />}
    </Dialog>
  )
}
