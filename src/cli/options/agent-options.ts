import { InvalidArgumentError } from 'commander'

export interface ListenAddress {
  host: string
  port: number
}

const UNITS: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** `10m` is ten million bytes per second. */
export function rate(text: string): number {
  const match = /^(\d{1,12})([kmg]?)$/i.exec(text)
  const bytes = Number(match?.[1]) * (UNITS[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN)
  if (bytes > 0) return bytes
  throw new InvalidArgumentError('It takes bytes per second like 500k or 10m.')
}

/** `HOST:PORT`; an IPv6 host is in brackets. */
export function listenAddress(text: string): ListenAddress {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  const host = match?.[1] ?? match?.[2]
  if (host !== undefined && port <= 65_535) return { host, port }
  throw new InvalidArgumentError('It takes HOST:PORT.')
}
