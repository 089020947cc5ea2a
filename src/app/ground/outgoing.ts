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
import { ownOrigins } from './public-address.ts'

export function openHttpClient(
  config: Config,
  clock: Clock,
  ownAddress: () => string | undefined,
): HttpClient {
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
      alwaysAllowed: (url) => isOwnSample(url, config, ownAddress),
    },
  )
}

/** Work that goes on after a restart asks before the server listens; then nothing is its own yet. */
function isOwnSample(url: URL, config: Config, ownAddress: () => string | undefined): boolean {
  const own = ownAddress()
  return own !== undefined && ownSamples(ownOrigins(config, own))(url)
}

/** The operator chose this one address, so it may be a private one; nothing else is reached through this client. */
export function openGseHttpClient(config: Config, clock: Clock): HttpClient {
  const own = config.GSE_ENDPOINT === null ? null : new URL(config.GSE_ENDPOINT).origin
  return new HttpClient(
    { guard: new AddressGuard(NOTHING_PRIVATE), clock },
    { userAgent: `wharf/${VERSION}`, alwaysAllowed: (url) => url.origin === own, maxRedirects: 0 },
  )
}
