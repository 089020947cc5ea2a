/** When a saved export runs by itself, as people say it. */
export interface ScheduleFields {
  every: 'never' | 'day' | 'workday' | 'week' | 'month' | 'cron'
  /** 06:30 */
  time?: string
  /** 0 is Sunday. */
  weekday?: number
  /** Of the month; `L` is the last. */
  day?: number | 'L'
  cron?: string
  timezone?: string
}

const TIME = /^(\d{1,2}):(\d{2})$/
const FIELDS = /^(\d{1,2}) (\d{1,2}) (\S+) \* (\S+)$/

/** Null where it never runs by itself. */
export function toSchedule(fields: ScheduleFields): { cron: string; timezone: string } | null {
  const cron = cronOf(fields)
  return cron === null ? null : { cron, timezone: fields.timezone || 'UTC' }
}

function cronOf({ every, time = '06:00', weekday = 1, day = 1, cron = '' }: ScheduleFields): string | null {
  const [, hour, minute] = TIME.exec(time) ?? ['', '6', '00']
  const at = `${Number(minute)} ${Number(hour)}`
  switch (every) {
    case 'never':
      return null
    case 'day':
      return `${at} * * *`
    case 'workday':
      return `${at} * * 1-5`
    case 'week':
      return `${at} * * ${weekday}`
    case 'month':
      return `${at} ${day} * *`
    case 'cron':
      return cron.trim()
  }
}

/** What the form cannot say in its own words stays cron. */
export function fromSchedule(schedule: { cron: string; timezone: string } | null): ScheduleFields {
  if (!schedule) return { every: 'never' }
  const { cron, timezone } = schedule
  const [, minute, hour, day = '', weekday = ''] = FIELDS.exec(cron.trim()) ?? []
  const other: ScheduleFields = { every: 'cron', cron, timezone }
  if (minute === undefined || hour === undefined || Number(hour) > 23 || Number(minute) > 59) return other
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (day === '*' && weekday === '*') return { every: 'day', time, timezone }
  if (day === '*' && weekday === '1-5') return { every: 'workday', time, timezone }
  if (day === '*' && /^[0-7]$/.test(weekday))
    return { every: 'week', time, weekday: Number(weekday) % 7, timezone }
  if (weekday === '*' && day === 'L') return { every: 'month', time, day, timezone }
  if (weekday === '*' && /^(?:[1-9]|[12]\d|3[01])$/.test(day))
    return { every: 'month', time, day: Number(day), timezone }
  return other
}
