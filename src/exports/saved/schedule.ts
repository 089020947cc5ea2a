import { Cron } from 'croner'
import { type Static, Type } from 'typebox'
import { invalid } from './parameters.ts'

export type Schedule = Static<typeof Schedule>
export const Schedule = Type.Object(
  {
    cron: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'minute, hour, day, month, weekday; or @daily and the like',
    }),
    timezone: Type.String({ minLength: 1, maxLength: 100, description: 'IANA name, such as Asia/Shanghai' }),
  },
  { title: 'Schedule', additionalProperties: false },
)

const FORM = /^(?:@\w+|\S+(?:\s+\S+){4})$/
const SECOND = 1_000

/**
 * When a saved export is due. An hour that a change of the clocks leaves out counts at its end, one that comes twice counts
 * once for a fixed time of day, and twice for what runs every N minutes.
 */
export function checkSchedule({ cron, timezone }: Schedule, at: number): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw invalid(
      'schedule.timezone',
      `is no time zone: '${timezone}'; use an IANA name such as Asia/Shanghai`,
    )
  }
  if (!FORM.test(cron.trim()))
    throw invalid(
      'schedule.cron',
      'takes five fields (minute, hour, day, month, weekday) or a name such as @daily',
    )
  let next: number | null
  try {
    next = nextDue({ cron, timezone }, at)
  } catch (error) {
    throw invalid('schedule.cron', `is not good: ${(error as Error).message}`)
  }
  if (next === null) throw invalid('schedule.cron', 'names a time that never comes')
}

/** The first due time after `at`. */
export function nextDue(schedule: Schedule, at: number): number | null {
  return patternOf(schedule).nextRun(new Date(at))?.getTime() ?? null
}

const SHOWN = 5

/** The due time `first` and those after it. */
export function nextDues(schedule: Schedule, first: number): string[] {
  const later = patternOf(schedule).nextRuns(SHOWN - 1, new Date(first))
  return [new Date(first), ...later].map((time) => time.toISOString())
}

/** The last due time that is not after `at`. */
export function lastDue(schedule: Schedule, at: number): number | null {
  // croner leaves out the second that it is asked at.
  const [last] = patternOf(schedule).previousRuns(1, new Date(at + SECOND))
  return last?.getTime() ?? null
}

function patternOf({ cron, timezone }: Schedule): Cron {
  return new Cron(cron.trim(), { timezone, paused: true, mode: '5-part' })
}
