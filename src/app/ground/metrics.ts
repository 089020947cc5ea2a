import type { Config } from '../../config.ts'
import type { MetricsAccess } from '../../http/index.ts'
import { hashSecret } from '../../tenancy/index.ts'

/** Open without a token only where nobody comes from outside, or on a port of its own. */
export function metricsAccess(config: Config, adminTokenHash: string): MetricsAccess {
  const { WHARF_METRICS_TOKEN: token, WHARF_METRICS_PORT: port } = config
  const isOpen = token === null && (config.isLocal || port !== null)
  const tokenHashes = [adminTokenHash, ...(token === null ? [] : [hashSecret(token)])]
  return { port, tokenHashes: isOpen ? null : tokenHashes }
}
