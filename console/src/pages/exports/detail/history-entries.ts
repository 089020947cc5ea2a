import type { ExportHistoryItem, ExportTask } from '../../../api/exports.ts'

type Stage = 'fetching' | 'building' | 'uploading'
type End = 'succeeded' | 'failed' | 'cancelled'

/** A time in which the source was asked again and again. */
interface Trouble {
  at: string
  /** Null while it lasts. */
  ms: number | null
  code: string
  message: string
}

/** A thing that happened, or a stage that took a while. */
export interface HistoryEntry {
  seq: number
  at: string
  what: 'requested' | 'again' | 'interrupted' | 'waits' | Stage | End | 'told' | 'untold'
  /** How long it lasted; null while it lasts, undefined for what takes no time. */
  ms?: number | null
  progress?: ExportTask['progress']
  /** Why it ended, or what it waits for. */
  failure?: { code: string; message: string }
  waitsFor?: NonNullable<ExportTask['waiting_for']>['what']
  troubles?: Trouble[]
}

const STAGES: readonly string[] = ['fetching', 'building', 'uploading'] satisfies Stage[]
const LASTS: readonly string[] = [...STAGES, 'requested', 'again', 'interrupted', 'waits']

/**
 * The history of an export out of its events: each stage with its begin and length, each attempt that failed with its error,
 * each wait with what it was for. An attempt begins with the stage of fetching.
 */
export function historyEntries(events: readonly ExportHistoryItem[]): HistoryEntry[] {
  const entries: HistoryEntry[] = []
  let last: HistoryEntry | undefined
  for (const event of events) {
    const what = whatOf(event, last?.what)
    if (what === undefined) continue
    if (what === last?.what && event.type === 'export.progress') {
      goOn(last, event)
      continue
    }
    const { seq, at } = event
    if (last && LASTS.includes(last.what)) close(last, at)
    last = { seq, at, what, ...(LASTS.includes(what) && { ms: null }) }
    if (event.error) last.failure = event.error
    if (what === 'waits' && event.waiting_for) {
      const { code, message } = event.waiting_for
      Object.assign(last, { failure: { code, message }, waitsFor: event.waiting_for.what })
    }
    if (STAGES.includes(what)) goOn(last, event)
    entries.push(last)
  }
  return entries
}

function whatOf(
  event: ExportHistoryItem,
  before: HistoryEntry['what'] | undefined,
): HistoryEntry['what'] | undefined {
  switch (event.type) {
    case 'export.pending':
      if (event.waiting_for) return 'waits'
      if (before === undefined) return 'requested'
      return ['succeeded', 'failed', 'cancelled', 'told', 'untold'].includes(before) ? 'again' : 'interrupted'
    case 'export.processing':
      return 'fetching'
    case 'export.progress':
      return STAGES.includes(event.stage ?? '') ? (event.stage as Stage) : undefined
    case 'export.succeeded':
    case 'export.failed':
    case 'export.cancelled':
      return event.type.slice('export.'.length) as End
    case 'export.notified':
      return event.delivered === true ? 'told' : 'untold'
    default:
      return undefined
  }
}

/** A further word of the same stage: rows, and whether the source fails at the moment. */
function goOn(entry: HistoryEntry, { at, progress, waiting_for: away }: ExportHistoryItem): void {
  if (progress) entry.progress = progress
  const troubles = entry.troubles ?? []
  const open = troubles.findLast(({ ms }) => ms === null)
  if (away) {
    const { code, message, since = at } = away
    if (open) Object.assign(open, { code, message })
    else entry.troubles = [...troubles, { at: since, ms: null, code, message }]
  } else if (open) open.ms = Date.parse(at) - Date.parse(open.at)
}

function close(entry: HistoryEntry, at: string): void {
  entry.ms = Date.parse(at) - Date.parse(entry.at)
  for (const trouble of entry.troubles ?? []) trouble.ms ??= Date.parse(at) - Date.parse(trouble.at)
}
