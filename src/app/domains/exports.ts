import type { Config } from '../../config.ts'
import type { Ground } from '../../domain/index.ts'
import { checkNotify } from '../../notify/index.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

export function exportsOptions(config: Config, { net }: Ground) {
  const excel = { maxRows: config.WHARF_EXCEL_MAX_ROWS, maxBytes: config.WHARF_EXCEL_MAX_BYTES }
  const able = {
    mail: config.SMTP_URL !== null,
    publicUrl: config.WHARF_PUBLIC_URL !== null,
    checkUrl: (url: string) => net.check(url),
  }
  return {
    dataDir: config.WHARF_DATA_DIR,
    projectLimit: config.WHARF_EXPORT_PROJECT_LIMIT,
    sync: { maxRows: config.WHARF_SYNC_MAX_ROWS, maxBytes: config.WHARF_SYNC_MAX_BYTES },
    excel,
    job: {
      concurrency: config.WHARF_EXPORT_CONCURRENCY,
      timeoutMs: config.WHARF_EXPORT_TIMEOUT_MINUTES * MINUTE,
      ttlMs: config.WHARF_EXPORT_TTL_HOURS * HOUR,
      limits: { maxRows: config.WHARF_EXPORT_MAX_ROWS, maxBytes: config.WHARF_EXPORT_MAX_BYTES },
      excel,
    },
    checkNotify: (wish: object) => checkNotify(wish, able),
  }
}
