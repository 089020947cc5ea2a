import { Input, Select } from 'antd'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { TimeZoneSelect } from '../make/fields/time-zone-select.tsx'
import type { ScheduleFields } from './schedule-model.ts'

const EVERY = ['never', 'day', 'workday', 'week', 'month', 'cron'] as const
/** Monday first. */
const WEEKDAYS = [1, 2, 3, 4, 5, 6, 0]
const SUNDAY = Date.UTC(2026, 0, 4)
const DAY_MS = 86_400_000

/** When an export runs by itself: by words, or by cron for whoever knows it. */
export function ScheduleEditor({
  value,
  onChange,
}: {
  value: ScheduleFields
  onChange(value: ScheduleFields): void
}) {
  const { t, i18n } = useTranslation()
  const id = useId()
  const { every } = value
  const set = (change: Partial<ScheduleFields>) => onChange({ ...value, ...change })
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'long', timeZone: 'UTC' })
  const hasTime = every !== 'never' && every !== 'cron'
  return (
    <div className="make-schedule">
      <Select
        aria-label={t('make.schedule.every')}
        value={every}
        onChange={(next) => set({ every: next })}
        options={EVERY.map((one) => ({ value: one, label: t(`make.schedule.${one}`) }))}
      />
      {every === 'week' && (
        <Select
          aria-label={t('make.schedule.weekday')}
          value={value.weekday ?? 1}
          onChange={(next) => set({ weekday: next })}
          options={WEEKDAYS.map((day) => ({ value: day, label: weekday.format(SUNDAY + day * DAY_MS) }))}
        />
      )}
      {every === 'month' && (
        <Select<number | 'L'>
          aria-label={t('make.schedule.day')}
          value={value.day ?? 1}
          onChange={(next) => set({ day: next })}
          options={[
            ...Array.from({ length: 28 }, (_, index) => ({
              value: index + 1,
              label: t('make.schedule.day_of', { day: index + 1 }),
            })),
            { value: 'L' as const, label: t('make.schedule.last_day') },
          ]}
        />
      )}
      {hasTime && (
        <label className="make-time" htmlFor={id}>
          {t('make.schedule.at')}
          <input
            id={id}
            type="time"
            required
            value={value.time ?? '06:00'}
            onChange={(event) => set({ time: event.target.value || '06:00' })}
          />
        </label>
      )}
      {every === 'cron' && (
        <Input
          aria-label={t('make.schedule.cron')}
          className="mono"
          placeholder="0 6 1 * *"
          value={value.cron ?? ''}
          onChange={(event) => set({ cron: event.target.value })}
        />
      )}
      {every !== 'never' && (
        <TimeZoneSelect
          aria-label={t('make.schedule.timezone')}
          allowClear={false}
          value={value.timezone ?? 'UTC'}
          onChange={(timezone) => set({ timezone })}
        />
      )}
      {every === 'cron' && <p className="make-hint">{t('make.schedule.cron_hint')}</p>}
    </div>
  )
}
