import type { ReadDate } from '../../condition/index.ts'
import { readIsoDate, type Timezone } from '../../sheet/index.ts'

const DAY = 86_400_000

/** What a cell keeps of a time. */
export function cutTo(wallClock: number, unit: number): number {
  return Math.floor(wallClock / unit) * unit
}

/** Reads the dates of a column's conditions. Where cells are whole days, a time of day still counts: `> '2026-06-01 12:00'`. */
export function dateReader(zone: Timezone, unit: number): ReadDate {
  return (literal) => {
    const bytes = Buffer.from(String(literal))
    const wallClock = readIsoDate(bytes, 0, bytes.length, zone)
    return unit === DAY ? wallClock : cutTo(wallClock, unit)
  }
}
