import { useTranslation } from 'react-i18next'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export interface Format {
  number(value: number): string
  /** A size in powers of two, as limits are set and messages say it: "1.5 MiB". The only form of a size. */
  bytes(value: number): string
  percent(fraction: number): string
  /** A length of time: "1 h 5 min". */
  duration(ms: number): string
  /** A moment, with its date when it is not today. */
  moment(iso: string): string
  /** The time of day, to the second. */
  clock(iso: string): string
  /** A moment to the second. */
  exact(iso: string): string
  /** "5 min ago", "in 2 h"; a date when it is more than a week off, null when it is now. */
  ago(iso: string, now: number): string | null
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The clocks of browser and server differ by this much without anybody noticing. */
const NOW_MS = 10_000

/** Numbers and times in the language of the page, in the reader's own time zone. */
export function useFormat(): Format {
  const { i18n } = useTranslation()
  return formatFor(i18n.language)
}

/** Kept: a formatter of the browser takes longer to make than the rest of a row. */
const formats = new Map<string, Format>()

function formatFor(language: string): Format {
  const known = formats.get(language) ?? makeFormat(language)
  formats.set(language, known)
  return known
}

function makeFormat(language: string): Format {
  const number = new Intl.NumberFormat(language)
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 })
  const time = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  const day = new Intl.DateTimeFormat(language, {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const clock = new Intl.DateTimeFormat(language, { timeStyle: 'medium', hourCycle: 'h23' })
  const exact = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    hourCycle: 'h23',
  })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'short' })
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' })
  const bytes = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'byte',
    unitDisplay: 'long',
    maximumFractionDigits: 0,
  })
  const tenths = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
  const units = new Map<string, Intl.NumberFormat>()
  const unit = (value: number, name: string, digits = 0) => {
    const key = `${name} ${digits}`
    const known =
      units.get(key) ??
      new Intl.NumberFormat(language, {
        style: 'unit',
        unit: name,
        unitDisplay: 'short',
        maximumFractionDigits: digits,
      })
    units.set(key, known)
    return known.format(value)
  }
  return {
    number: (value) => number.format(value),
    percent: (fraction) => percent.format(fraction),
    bytes(value) {
      const step = Math.min(UNITS.length - 1, value < 1 ? 0 : Math.floor(Math.log2(value) / 10))
      if (step === 0) return bytes.format(value)
      return `${tenths.format(value / 1024 ** step)} ${UNITS[step]}`
    },
    duration(ms) {
      if (ms < 1_000) return unit(Math.round(ms), 'millisecond')
      const seconds = Math.round(ms / 1_000)
      if (seconds < 60) return unit(ms < 10_000 ? ms / 1_000 : seconds, 'second', ms < 10_000 ? 1 : 0)
      const minutes = Math.floor(seconds / 60)
      if (minutes < 60) return `${unit(minutes, 'minute')} ${unit(seconds % 60, 'second')}`
      return `${unit(Math.floor(minutes / 60), 'hour')} ${unit(minutes % 60, 'minute')}`
    },
    moment(iso) {
      const date = new Date(iso)
      return (date.toDateString() === new Date().toDateString() ? time : day).format(date)
    },
    clock: (iso) => clock.format(new Date(iso)),
    exact: (iso) => exact.format(new Date(iso)),
    ago(iso, now) {
      const ms = Date.parse(iso) - now
      const away = Math.abs(ms)
      if (away < NOW_MS) return null
      if (away < MINUTE_MS) return relative.format(Math.trunc(ms / NOW_MS) * 10, 'second')
      if (away < HOUR_MS) return relative.format(Math.trunc(ms / MINUTE_MS), 'minute')
      if (away < DAY_MS) return relative.format(Math.trunc(ms / HOUR_MS), 'hour')
      if (away < 7 * DAY_MS) return relative.format(Math.trunc(ms / DAY_MS), 'day')
      return date.format(new Date(iso))
    },
  }
}
