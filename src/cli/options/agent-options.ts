import { AppError, ERRORS } from '../../kernel/index.ts'

const UNITS: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** `10m` is ten million bytes a second; nothing given is no limit. */
export function parseRate(option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const match = /^(\d{1,12})([kmg]?)$/i.exec(text)
  const rate = Number(match?.[1]) * (UNITS[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN)
  if (rate > 0) return rate
  throw new AppError(ERRORS.CONFIG_INVALID, `${option} takes bytes a second like 500k or 10m, not '${text}'`)
}

/** `HOST:PORT`; an IPv6 host is in brackets. */
export function parseListen(text: string): { listenHost: string; listenPort: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  const host = match?.[1] ?? match?.[2]
  if (host !== undefined && port <= 65_535) return { listenHost: host, listenPort: port }
  throw new AppError(ERRORS.CONFIG_INVALID, `--listen takes HOST:PORT, not '${text}'`)
}
