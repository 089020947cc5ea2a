import { type EndedSpans, SPAN, type SpanEnds } from './ended-spans.ts'
import { type EndsByMinute, MINUTE } from './ends-by-minute.ts'

const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Single ends are kept for an hour, and added up every few minutes. */
const KEPT_MS = 2 * HOUR

/** How far back, in which steps: bars that can be told apart on a phone. */
export const OVERVIEW_RANGES = {
  '1h': { step: MINUTE, steps: 60 },
  '6h': { step: SPAN, steps: 24 },
  '24h': { step: 2 * SPAN, steps: 48 },
  '7d': { step: 3 * HOUR, steps: 56 },
  '30d': { step: DAY / 2, steps: 60 },
} as const

export type OverviewRange = keyof typeof OVERVIEW_RANGES

export interface HistoryView<D extends string> {
  range: OverviewRange
  step_seconds: number
  domains: Record<D, { finished: number; failed: number; steps: Step[] }>
}

interface Step {
  at: string
  finished: number
  failed: number
}

/** What ended, step by step, up to now; the last step is not over. */
export async function readHistory<D extends string>(
  { minutes, spans }: { minutes: EndsByMinute; spans: EndedSpans },
  kinds: Record<D, { kind: string }>,
  { range, now }: { range: OverviewRange; now: number },
): Promise<HistoryView<D>> {
  const { step, steps } = OVERVIEW_RANGES[range]
  const last = Math.floor(now / step)
  const first = last - steps + 1
  const ends =
    step === MINUTE
      ? await readMinutes(minutes, first * step, now)
      : await readSpans({ minutes, spans }, { from: first * step, step, now })
  const domains = {} as HistoryView<D>['domains']
  for (const [name, { kind }] of Object.entries(kinds) as [D, { kind: string }][]) {
    const own = ends.filter((end) => end.kind === kind)
    const list = Array.from({ length: steps }, (_, index) => {
      const at = (first + index) * step
      const here = own.filter((end) => end.at === at)
      return { at: new Date(at).toISOString(), finished: sum(here, 'finished'), failed: sum(here, 'failed') }
    })
    domains[name] = { finished: sum(list, 'finished'), failed: sum(list, 'failed'), steps: list }
  }
  return { range, step_seconds: step / 1_000, domains }
}

/** What is not added up yet is read minute by minute, which is remembered. */
async function readSpans(
  { minutes, spans }: { minutes: EndsByMinute; spans: EndedSpans },
  { from, step, now }: { from: number; step: number; now: number },
): Promise<SpanEnds[]> {
  const added = await spans.addedUntil()
  const latest = await readMinutes(minutes, Math.max(from, added, now - KEPT_MS), now)
  const inSteps = latest.map((end) => ({ ...end, at: Math.floor(end.at / step) * step }))
  return [...(await spans.read(from, step)), ...inSteps]
}

async function readMinutes(minutes: EndsByMinute, from: number, now: number): Promise<SpanEnds[]> {
  const ends = await minutes.read(Math.floor(from / MINUTE), Math.floor(now / MINUTE))
  return ends.map(({ minute, ...end }) => ({ ...end, at: minute * MINUTE }))
}

function sum<K extends string>(rows: readonly Record<K, number>[], key: K): number {
  return rows.reduce((total, row) => total + row[key], 0)
}
