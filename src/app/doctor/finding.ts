export interface Finding {
  level: 'ok' | 'warn' | 'fail'
  check: 'settings' | 'server' | 'ledger' | 'redis' | 'store' | 'clock' | 'disk' | 'backup'
  message: string
}

export type Check = Finding['check']

export const ok = (check: Check, message: string): Finding => ({ level: 'ok', check, message })
export const warn = (check: Check, message: string): Finding => ({ level: 'warn', check, message })
export const fail = (check: Check, message: string): Finding => ({ level: 'fail', check, message })

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
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
