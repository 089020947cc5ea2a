import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

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

export function isMetadata(address: Address): boolean {
  return METADATA.has(address.toNormalizedString())
}

/** What kind of non-public address this is, in words, or undefined for a public one. Unknown ranges are not public. */
export function specialRange(address: Address): string | undefined {
  const range = address.range()
  if (range !== 'unicast') return WORDS[range] ?? 'a reserved address'
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_IPV6)) return 'a reserved address'
  return undefined
}
