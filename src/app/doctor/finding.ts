import { counted } from '../../kernel/index.ts'

export interface Finding {
  level: 'ok' | 'warn' | 'fail'
  check: 'settings' | 'server' | 'ledger' | 'redis' | 'store' | 'clock' | 'disk' | 'backup'
  message: string
  /** The same for programs that say it in another language: which sentence, and what is put into it. */
  kind?: FindingKind
  values?: FindingValues
}

/** Names that end in `_ms` are times, in `_bytes` sizes. */
export type FindingValues = Record<string, string | number>

/** What can be found about the parts of a running server. */
export const FINDING_KINDS = [
  'backup_age',
  'backup_none',
  'backup_unreadable',
  'clock_agrees',
  'clock_ahead',
  'clock_behind',
  'connections',
  'connections_few',
  'connections_tight',
  'disk',
  'disk_full',
  'files_shared',
  'files_shared_partly',
  'files_not_shared',
  'folder_differs',
  'ledger',
  'ledger_empty',
  'ledger_none',
  'ledger_not_durable',
  'ledger_too_new',
  'ledger_too_old',
  'ledger_unreadable',
  'postgres_old',
  'redis',
  'redis_drops',
  'redis_forgets',
  'redis_missing',
  'redis_none',
  'redis_old',
  'redis_unknown',
  'redis_unusable',
  'store',
  'store_differs',
  'store_none',
  'store_unusable',
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

export type Check = Finding['check']

const finding =
  (level: Finding['level']) =>
  (check: Check, message: string, kind?: FindingKind, values: FindingValues = {}): Finding => ({
    level,
    check,
    message,
    ...(kind && { kind, values }),
  })

export const ok = finding('ok')
export const warn = finding('warn')
export const fail = finding('fail')

/** Whether a version is at least another; what follows the numbers is left out. */
export function isAtLeast(version: string, wanted: string): boolean {
  const [have = [], want = []] = [version, wanted].map((text) =>
    text.split('.').map((part) => Number.parseInt(part, 10)),
  )
  for (const [index, number] of want.entries()) {
    const own = have[index] ?? 0
    if (own !== number) return own > number
  }
  return true
}

/** A time in words that a person reads at a glance. */
export function inWords(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1_000, 'second'],
  ]
  const [size, unit] = units.find(([length]) => Math.abs(ms) >= length) ?? [1, 'millisecond']
  const count = Math.round(Math.abs(ms) / size)
  return counted(count, unit)
}
