import type { Config } from '../../config.ts'
import type { QuotaValues } from '../../tenancy/index.ts'

export function defaultQuotas(config: Config): QuotaValues {
  return {
    exports_at_once: null,
    requests_at_once: config.WHARF_QUOTA_REQUESTS_AT_ONCE,
    streams: config.WHARF_QUOTA_STREAMS,
    disk_bytes: config.WHARF_QUOTA_DISK_BYTES,
    rows_per_day: config.WHARF_QUOTA_ROWS_PER_DAY,
    bytes_per_day: config.WHARF_QUOTA_BYTES_PER_DAY,
  }
}
