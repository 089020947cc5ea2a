import { isIP } from 'node:net'

/**
 * A host as a URL would carry it: lower case, punycode, and every way to write an IPv4 address (`2130706433`, `0x7f.1`,
 * full-width digits, percent-encoding) turned into dotted decimal. Undefined for what no URL takes.
 */
export function canonicalHost(text: string): string | undefined {
  if (isIP(text) === 6) text = `[${text}]`
  if (/[/?#@\\\s]/.test(text)) return undefined
  // The URL parser drops tabs and newlines and reads `:` as a port; the check above and this one keep it to a host.
  if (!/^\[[^\]]*\]$/.test(text) && text.includes(':')) return undefined
  const url = URL.parse(`http://${text}/`)
  if (!url?.hostname) return undefined
  return bareHost(url.hostname)
}

/** Without the brackets of an IPv6 literal and without the root's trailing dot. */
export function bareHost(hostname: string): string {
  const inside = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return inside.endsWith('.') ? inside.slice(0, -1) : inside
}
