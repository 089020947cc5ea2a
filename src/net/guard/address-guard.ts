import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type AllowList, joinPort } from './allow-hosts.ts'
import { embeddedIPv4 } from './embedded-ipv4.ts'
import { bareHost, canonicalHost } from './host-name.ts'

export interface Verdict {
  readonly allowed: boolean
  readonly reason: string
}

const yes = (reason: string): Verdict => ({ allowed: true, reason })
const no = (reason: string): Verdict => ({ allowed: false, reason })

/**
 * Decides which addresses Wharf may connect to on behalf of others. Public addresses are free; all else needs an entry in
 * the allow-list. A name on the list opens whatever it resolves to, except cloud metadata: that hands out the machine's
 * own credentials, so only an entry for that very address opens it.
 */
export class AddressGuard {
  readonly #hosts: ReadonlySet<string>
  readonly #suffixes: readonly { suffix: string; port: string }[]
  readonly #cidrs: readonly { base: Address; bits: number }[]

  constructor(allow: AllowList) {
    this.#hosts = new Set(allow.hosts.filter((host) => !host.startsWith('*.')))
    this.#suffixes = allow.hosts
      .filter((host) => host.startsWith('*.'))
      .map((host) => {
        const [suffix = '', port = ''] = host.slice(1).split(':')
        return { suffix, port }
      })
    this.#cidrs = allow.cidrs.map((text) => {
      const [base, bits] = ipaddr.parseCIDR(text)
      return { base, bits }
    })
  }

  /** May a connection for `host` go to `address`? The host is the name as asked for, before it was resolved. */
  decide(address: string, host: string, port = 0): Verdict {
    const literal = isIP(address) ? address : canonicalHost(address)
    if (literal === undefined || isIP(literal) === 0) return no('not an IP address')
    // The zone of `fe80::1%eth0` says which cable to take; ranges know nothing of it.
    const parsed = ipaddr.parse(literal.replace(/%.*$/, ''))
    const embedded = parsed instanceof ipaddr.IPv6 ? embeddedIPv4(parsed) : undefined

    const secret = [parsed, ...(embedded?.readings ?? [])].find(isMetadata)
    if (secret) return this.#listsExactly(secret) ? yes('listed') : no('a cloud metadata address')
    if (this.#listsName(bareHost(host).toLowerCase(), port)) return yes('its host is listed')
    if (this.#listsAddress(parsed, port)) return yes('listed')
    if (!embedded) return this.#judge(parsed, port)
    const parts: Address[] = embedded.carrierCounts ? [parsed, ...embedded.readings] : [...embedded.readings]
    return parts.map((part) => this.#judge(part, port)).find((verdict) => !verdict.allowed) ?? yes('public')
  }

  #judge(address: Address, port: number): Verdict {
    if (this.#listsAddress(address, port)) return yes('listed')
    const special = specialRange(address)
    return special === undefined ? yes('public') : no(special)
  }

  #listsName(host: string, port: number): boolean {
    if (this.#hosts.has(host) || this.#hosts.has(joinPort(host, port))) return true
    return this.#suffixes.some(
      (entry) => host.endsWith(entry.suffix) && (entry.port || `${port}`) === `${port}`,
    )
  }

  #listsAddress(address: Address, port: number): boolean {
    if (this.#hosts.has(joinPort(address.toString(), port))) return true
    return this.#cidrs.some(({ base, bits }) => base.kind() === address.kind() && address.match(base, bits))
  }

  #listsExactly(address: Address): boolean {
    const whole = address.kind() === 'ipv4' ? 32 : 128
    return this.#cidrs.some(({ base, bits }) => bits === whole && base.toString() === address.toString())
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Where clouds hand out the machine's own credentials: Amazon, Google, Azure, Oracle, Alibaba. */
const METADATA = new Set(
  ['169.254.169.254', '168.63.129.16', '192.0.0.192', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map(
    (address) => ipaddr.parse(address).toNormalizedString(),
  ),
)

const WORDS: Record<string, string> = {
  unspecified: 'an unspecified address',
  broadcast: 'the broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'a carrier-grade NAT address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  deprecatedSiteLocal: 'a private address',
}

const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

function isMetadata(address: Address): boolean {
  return METADATA.has(address.toNormalizedString())
}

/** What kind of non-public address this is, in words, or undefined for a public one. Unknown ranges are not public. */
function specialRange(address: Address): string | undefined {
  const range = address.range()
  if (range !== 'unicast') return WORDS[range] ?? 'a reserved address'
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_IPV6)) return 'a reserved address'
  return undefined
}
