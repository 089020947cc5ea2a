import type { Config } from '../../config.ts'
import type { Clock } from '../../kernel/index.ts'
import { AddressGuard, HttpClient, LOOPBACK_ONLY, NOTHING_PRIVATE, parseAllowHosts } from '../../net/index.ts'
import { VERSION } from '../../version.ts'
import type { OwnAddress } from './public-address.ts'

export function openHttpClient(config: Config, clock: Clock, address: OwnAddress): HttpClient {
  const allowed =
    config.WHARF_ALLOW_HOSTS === null
      ? config.isLocal
        ? LOOPBACK_ONLY
        : NOTHING_PRIVATE
      : parseAllowHosts(config.WHARF_ALLOW_HOSTS)
  return new HttpClient(
    { guard: new AddressGuard(allowed), clock },
    {
      userAgent: `wharf/${VERSION}`,
      connectionsPerOrigin: 64,
      inPlaceOf: (url) => address.ownSample(url),
    },
  )
}
