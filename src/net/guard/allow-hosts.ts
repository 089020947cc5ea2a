import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { canonicalHost } from './host-name.ts'

/** Which hosts inside private ranges may be reached. */
export interface AllowList {
  /** `name`, `name:port`, `*.suffix`, `*.suffix:port`, `address:port`, `[address]:port` */
  readonly hosts: readonly string[]
  readonly cidrs: readonly string[]
}

export const NOTHING_PRIVATE: AllowList = Object.freeze({ hosts: [], cidrs: [] })
export const LOOPBACK_ONLY: AllowList = Object.freeze({ hosts: [], cidrs: ['127.0.0.0/8', '::1/128'] })

/** Reads `WHARF_ALLOW_HOSTS`: entries parted by commas or blanks. */
export function parseAllowHosts(text: string): AllowList {
  const hosts = new Set<string>()
  const cidrs = new Set<string>()
  for (const entry of text.split(/[\s,]+/).filter(Boolean)) {
    if (entry.includes('/')) cidrs.add(parseCidr(entry))
    else {
      const parsed = parseHost(entry)
      if (parsed.address && parsed.port === '')
        cidrs.add(`${parsed.host}/${isIP(parsed.host) === 4 ? 32 : 128}`)
      else hosts.add(joinPort(parsed.host, parsed.port))
    }
  }
  return { hosts: [...hosts], cidrs: [...cidrs] }
}

/** `host:port`, with brackets around an IPv6 address. */
export function joinPort(host: string, port: string | number): string {
  if (port === '') return host
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

function parseCidr(entry: string): string {
  const [address = '', bits = '', ...rest] = entry.split('/')
  const family = isIP(address)
  if (rest.length > 0 || family === 0)
    throw malformed(
      entry,
      entry.includes('://') ? 'give the host alone, without the scheme' : 'a CIDR looks like 10.0.0.0/8',
    )
  const most = family === 4 ? 32 : 128
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > most)
    throw malformed(entry, `the prefix is a number from 0 to ${most}`)
  const base = (family === 4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(entry).toString()
  const written = ipaddr.parse(address).toString()
  // Half of the time 10.0.0.5/8 is meant to be one machine, and it would open sixteen million.
  if (base !== written)
    throw malformed(entry, `write ${base}/${bits} for the whole range or ${written} for the one`)
  return `${base}/${Number(bits)}`
}

function parseHost(entry: string): { host: string; port: string; address: boolean } {
  const [, bracketed, plain, port = ''] =
    (isIP(entry) === 6 ? [entry, entry] : /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(.*))?$/.exec(entry)) ?? []
  if (
    entry.endsWith(':') ||
    (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65535))
  )
    throw malformed(entry, 'a port is a number from 1 to 65535')
  const suffix = plain?.startsWith('*.') ? '*.' : ''
  const host = canonicalHost(bracketed ? `[${bracketed}]` : (plain ?? '').slice(suffix.length))
  if (host === undefined || host === '' || host.includes('*') || (suffix !== '' && isIP(host) !== 0))
    throw malformed(entry, 'give a host name, host:port, *.suffix, an IP address or a CIDR')
  return { host: suffix + host, port: port === '' ? '' : String(Number(port)), address: isIP(host) !== 0 }
}

function malformed(entry: string, hint: string): AppError {
  return new AppError(ERRORS.CONFIG_INVALID, `WHARF_ALLOW_HOSTS: "${entry}" is not understood: ${hint}`, {
    retryable: false,
  })
}
