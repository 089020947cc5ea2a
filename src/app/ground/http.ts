import type { Config } from '../../config.ts'
import type { HttpServerOptions, SharedCounts } from '../../http/index.ts'
import { VERSION } from '../../version.ts'
import { metricsAccess } from './metrics.ts'

/** The body of a file that comes slower than this is cut. */
const MIN_BYTES_PER_SECOND = 1_024

export function httpOptions(
  config: Config,
  adminTokenHash: string,
  rateCounts: SharedCounts | undefined,
): HttpServerOptions {
  return {
    host: config.WHARF_HOST,
    port: config.WHARF_PORT,
    version: VERSION,
    rateLimit: config.WHARF_RATE_LIMIT,
    rateCounts,
    publicUrl: config.WHARF_PUBLIC_URL,
    trustProxy: config.WHARF_TRUST_PROXY,
    corsOrigins: config.WHARF_CORS_ORIGINS,
    bodies: {
      smallMs: config.WHARF_BODY_TIMEOUT_SECONDS * 1000,
      paceMs: config.WHARF_UPLOAD_IDLE_SECONDS * 1000,
      minBytesPerSecond: MIN_BYTES_PER_SECOND,
    },
    unreadyMs: config.WHARF_UNREADY_SECONDS * 1000,
    folders: { data: config.WHARF_DATA_DIR, files: config.filesDir },
    metrics: metricsAccess(config, adminTokenHash),
    samples: config.WHARF_SAMPLES === 'on',
    docs: config.WHARF_DOCS === 'on',
  }
}
