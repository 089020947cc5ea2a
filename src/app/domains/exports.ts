import type { Config } from '../../config.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

export function exportsOptions(config: Config) {
  return {
    dataDir: config.WHARF_DATA_DIR,
    projectLimit: config.WHARF_EXPORT_PROJECT_LIMIT,
    sync: { maxRows: config.WHARF_SYNC_MAX_ROWS, maxBytes: config.WHARF_SYNC_MAX_BYTES },
    excel: excelLimits(config),
  }
}

export function exportJobOptions(config: Config) {
  return {
    concurrency: config.WHARF_EXPORT_CONCURRENCY,
    timeoutMs: config.WHARF_EXPORT_TIMEOUT_MINUTES * MINUTE,
    ttlMs: config.WHARF_EXPORT_TTL_HOURS * HOUR,
    limits: { maxRows: config.WHARF_EXPORT_MAX_ROWS, maxBytes: config.WHARF_EXPORT_MAX_BYTES },
    excel: excelLimits(config),
  }
}

function excelLimits(config: Config) {
  return { maxRows: config.WHARF_EXCEL_MAX_ROWS, maxBytes: config.WHARF_EXCEL_MAX_BYTES }
}
