import type { DraftFields } from './draft-fields.ts'

/** A date that each run would ask for again, with the word that meant it on the day when it was chosen. */
export interface FixedDate {
  date: string
  word: string | null
}

const DATE = /(?<!\d)\d{4}-\d{2}(?:-\d{2})?(?![\d-])/g

/** Dates in those parts of a request in which words for dates are filled in. */
export function fixedDates(fields: DraftFields, at: number): FixedDate[] {
  const found = new Set<string>()
  eachText(fields, (text) => {
    for (const [date] of text.matchAll(DATE)) found.add(date)
    return text
  })
  const words = wordsOn(new Date(at))
  return [...found].sort().map((date) => ({ date, word: words.get(date) ?? null }))
}

/** The members that have other texts now. */
export function withWords(fields: DraftFields, dates: readonly FixedDate[]): Partial<DraftFields> {
  const words = new Map(dates.map(({ date, word }) => [date, word]))
  return eachText(fields, (text) =>
    text.replace(DATE, (date) => (words.get(date) ? `{{${words.get(date)}}}` : date)),
  )
}

type Change = (text: string) => string

function eachText({ source_url, title, summary, file_name, http, sheets, sql }: DraftFields, change: Change) {
  const text = <T>(value: T): T => (typeof value === 'string' ? (change(value) as T) : value)
  return {
    ...(source_url && { source_url: text(source_url) }),
    ...(title && { title: text(title) }),
    ...(summary && { summary: text(summary) }),
    ...(file_name && { file_name: text(file_name) }),
    ...(http && { http: { ...http, url: text(http.url), body: text(http.body) } }),
    ...(sheets && {
      sheets: sheets.map((sheet) => ({
        ...sheet,
        source_url: text(sheet.source_url),
        title: text(sheet.title),
      })),
    }),
    ...(sql && {
      sql: { ...sql, params: (sql.params ?? []).map((one) => ({ ...one, value: text(one.value) })) },
    }),
  } as Partial<DraftFields>
}

/** What means several words means the first of them. */
function wordsOn(day: Date): Map<string, string> {
  const [year, month, date] = [day.getFullYear(), day.getMonth(), day.getDate()]
  const monday = date - ((day.getDay() + 6) % 7)
  const quarter = Math.floor(month / 3) * 3
  const iso = (y: number, m: number, d: number) => new Date(Date.UTC(y, m, d)).toISOString().slice(0, 10)
  const words: [string, string][] = [
    ['last_month.start', iso(year, month - 1, 1)],
    ['last_month.end', iso(year, month, 0)],
    ['today', iso(year, month, date)],
    ['yesterday', iso(year, month, date - 1)],
    ['this_month.start', iso(year, month, 1)],
    ['last_week.start', iso(year, month, monday - 7)],
    ['last_week.end', iso(year, month, monday - 1)],
    ['last_quarter.start', iso(year, quarter - 3, 1)],
    ['last_quarter.end', iso(year, quarter, 0)],
    ['last_month', iso(year, month - 1, 1).slice(0, 7)],
    ['this_month', iso(year, month, 1).slice(0, 7)],
  ]
  return new Map(words.reverse().map(([word, text]) => [text, word]))
}
