/** A day without a zone, as UTC milliseconds of its midnight. */
type Day = number

const DAY_MS = 86_400_000

/** What each word means; docs/saved-exports.md lists them. Days are the zone's, weeks begin on Monday, an end is the last day. */
export function dateWords(at: number, timezone: string): Record<string, string> {
  const today = localDay(at, timezone)
  const date = new Date(today)
  const [year, month, quarter] = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    Math.floor(date.getUTCMonth() / 3),
  ]
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY_MS
  const months = (first: number, count: number): [Day, Day] => [
    Date.UTC(year, first, 1),
    Date.UTC(year, first + count, 0),
  ]
  const spans: Record<string, { span: [Day, Day]; name(start: Day): string }> = {
    this_week: { span: [monday, monday + 6 * DAY_MS], name: weekName },
    last_week: { span: [monday - 7 * DAY_MS, monday - DAY_MS], name: weekName },
    this_month: { span: months(month, 1), name: (start) => iso(start).slice(0, 7) },
    last_month: { span: months(month - 1, 1), name: (start) => iso(start).slice(0, 7) },
    this_quarter: { span: months(quarter * 3, 3), name: quarterName },
    last_quarter: { span: months(quarter * 3 - 3, 3), name: quarterName },
    this_year: { span: months(0, 12), name: (start) => iso(start).slice(0, 4) },
    last_year: { span: months(-12, 12), name: (start) => iso(start).slice(0, 4) },
  }
  const words: Record<string, string> = {
    now: new Date(at).toISOString(),
    today: iso(today),
    yesterday: iso(today - DAY_MS),
    tomorrow: iso(today + DAY_MS),
  }
  for (const [word, { span, name }] of Object.entries(spans)) {
    words[word] = name(span[0])
    words[`${word}.start`] = iso(span[0])
    words[`${word}.end`] = iso(span[1])
  }
  return words
}

export const DATE_WORDS: ReadonlySet<string> = new Set(Object.keys(dateWords(0, 'UTC')))

function localDay(at: number, timezone: string): Day {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: timezone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  })
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day)
}

function iso(day: Day): string {
  return new Date(day).toISOString().slice(0, 10)
}

/** By ISO 8601: the week belongs to the year that has its Thursday. */
function weekName(monday: Day): string {
  const thursday = monday + 3 * DAY_MS
  const year = new Date(thursday).getUTCFullYear()
  const week = Math.floor((thursday - Date.UTC(year, 0, 1)) / DAY_MS / 7) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}

function quarterName(start: Day): string {
  const date = new Date(start)
  return `${date.getUTCFullYear()}-Q${date.getUTCMonth() / 3 + 1}`
}
