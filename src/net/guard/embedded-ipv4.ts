import ipaddr from 'ipaddr.js'

export interface EmbeddedIPv4 {
  /** Every IPv4 address that a gateway may read out of the IPv6 one. */
  readonly readings: readonly ipaddr.IPv4[]
  /** true: the IPv6 address is also reached as itself, so its own range counts as well. */
  readonly carrierCounts: boolean
}

const within = (address: ipaddr.IPv6, cidr: string) => address.match(ipaddr.IPv6.parseCIDR(cidr))

/**
 * The IPv4 address inside an IPv6 one. A gateway, a tunnel or the kernel itself would carry the connection on to what is
 * inside, so that is what the guard has to look at.
 */
export function embeddedIPv4(address: ipaddr.IPv6): EmbeddedIPv4 | undefined {
  const bytes = address.toByteArray()
  const at = (...places: number[]) => new ipaddr.IPv4(places.map((place) => bytes[place] ?? 0))
  const last = () => at(12, 13, 14, 15)

  // Mapped, and SIIT's translated form.
  if (within(address, '::ffff:0:0/96') || within(address, '::ffff:0:0:0/96')) return inside([last()])
  if (within(address, '64:ff9b::/96')) return inside([last()])
  if (within(address, '64:ff9b:1::/48')) return inside(localNat64(at))
  // 6to4
  if (within(address, '2002::/16')) return inside([at(2, 3, 4, 5)])
  // Teredo: the server, and the client with all bits turned over.
  if (within(address, '2001::/32')) {
    const client = new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))
    return inside([at(4, 5, 6, 7), client])
  }
  // ISATAP: any prefix, then 0000:5efe or 0200:5efe.
  const isatap =
    (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return isatap ? { readings: [last()], carrierCounts: true } : undefined
}

function inside(readings: ipaddr.IPv4[]): EmbeddedIPv4 {
  return { readings, carrierCounts: false }
}

/**
 * RFC 8215 leaves the length of the prefix to the operator, and RFC 6052 puts the IPv4 address elsewhere for each length.
 * All of them are read. A reading that starts with zero leads nowhere: it only says that this was not the length.
 */
function localNat64(at: (...places: number[]) => ipaddr.IPv4): ipaddr.IPv4[] {
  const readings = [at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), at(12, 13, 14, 15)]
  const filled = readings.filter((reading) => reading.octets[0] !== 0)
  return filled.length > 0 ? filled : readings.slice(-1)
}
