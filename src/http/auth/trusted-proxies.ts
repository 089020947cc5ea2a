import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

const NAMED: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/**
 * Whose `X-Forwarded-*` headers count: those of proxies that the operator named. From everybody else they are only text, with
 * which a caller could borrow another's address.
 */
export class TrustedProxies {
  readonly #known = new BlockList()

  /** Addresses, CIDRs, `loopback` or `private`. */
  constructor(names: readonly string[]) {
    for (const range of names.flatMap((name) => NAMED[name] ?? [name])) {
      const [address = '', prefix] = range.split('/')
      const family = familyOf(address)
      if (prefix === undefined) this.#known.addAddress(address, family)
      else this.#known.addSubnet(address, Number(prefix), family)
    }
  }

  trusts(address: string): boolean {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
    return isIP(plain) !== 0 && this.#known.check(plain, familyOf(plain))
  }

  /** The caller's address: the last one in the chain that is not a trusted proxy's. */
  addressOf({ headers, socket }: IncomingMessage): string {
    let address = socket.remoteAddress ?? ''
    const chain = entries(headers['x-forwarded-for'])
    while (this.trusts(address)) {
      const before = chain.pop()
      if (before === undefined || isIP(before) === 0) break
      address = before
    }
    return address
  }

  /** The address under which the caller asked, like `https://wharf.example.com`; undefined if it named none that is good. */
  originOf({ headers, socket }: IncomingMessage): string | undefined {
    const trusted = this.trusts(socket.remoteAddress ?? '')
    const host = (trusted ? entries(headers['x-forwarded-host']).at(-1) : undefined) ?? headers.host
    const scheme = (trusted ? entries(headers['x-forwarded-proto']).at(-1) : undefined) ?? 'http'
    if (host === undefined || !/^[\w.:[\]-]+$/.test(host) || !/^https?$/.test(scheme)) return undefined
    return URL.parse(`${scheme}://${host}`)?.origin
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

function entries(header: string | string[] | undefined): string[] {
  return String(header ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
}
