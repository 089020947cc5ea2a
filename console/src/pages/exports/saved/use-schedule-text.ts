import { useTranslation } from 'react-i18next'
import type { Schedule } from '../../../api/saved.ts'
import { fromSchedule } from './schedule-model.ts'

const SUNDAY = Date.UTC(2026, 0, 4)
const DAY_MS = 86_400_000

/** A schedule as a sentence. */
export function useScheduleText(): (schedule: Schedule | null) => string {
  const { t, i18n } = useTranslation()
  return (schedule) => {
    const { every, time = '', weekday = 1, day = 1, cron = '', timezone = '' } = fromSchedule(schedule)
    if (every === 'never') return t('make.schedule.never')
    const format = new Intl.DateTimeFormat(i18n.language, { weekday: 'long', timeZone: 'UTC' })
    const words = {
      day: t('make.schedule.said.day', { time }),
      workday: t('make.schedule.said.workday', { time }),
      week: t('make.schedule.said.week', { weekday: format.format(SUNDAY + weekday * DAY_MS), time }),
      month:
        day === 'L'
          ? t('make.schedule.said.month_end', { time })
          : t('make.schedule.said.month', { day, time }),
      cron: t('make.schedule.said.cron', { cron }),
    }[every]
    return `${words} (${timezone})`
  }
}
