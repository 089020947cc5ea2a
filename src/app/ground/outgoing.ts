import type { Config } from '../../config.ts'
import type { Clock } from '../../kernel/index.ts'
import {
  AddressGuard,
  HttpClient,
  LOOPBACK_ONLY,
  NOTHING_PRIVATE,
  ownSamples,
  parseAllowHosts,
} from '../../net/index.ts'
import { VERSION } from '../../version.ts'
import { type OwnAddress, ownOrigins } from './public-address.ts'

export function openHttpClient(config: Config, clock: Clock, address: OwnAddress): HttpClient {
  const allowed =
    config.WHARF_ALLOW_HOSTS === null
      ? config.isLoopback
        ? LOOPBACK_ONLY
        : NOTHING_PRIVATE
      : parseAllowHosts(config.WHARF_ALLOW_HOSTS)
  return new HttpClient(
    { guard: new AddressGuard(allowed), clock },
    {
      userAgent: `wharf/${VERSION}`,
      connectionsPerOrigin: 64,
      alwaysAllowed: (url) => isOwnSample(url, config, address),
    },
  )
}

/** Work that goes on after a restart asks before the server listens; then nothing is its own yet. */
function isOwnSample(url: URL, config: Config, { current }: OwnAddress): boolean {
  return current !== undefined && ownSamples(ownOrigins(config, current))(url)
}
