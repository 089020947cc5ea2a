import type { Config } from '../../config.ts'
import type { Ground } from '../../domain/index.ts'
import { accessOf } from '../../kernel/index.ts'

const ELSEWHERE =
  ', or on another instance: without WHARF_SHARED_DIR each instance has its own uploads and results'

export function processingOptions(config: Config, { sole, scanner }: Pick<Ground, 'sole' | 'scanner'>) {
  const { TASK_GRPC_TLS_CERT: cert, TASK_GRPC_TLS_KEY: key, TASK_GRPC_TLS_CA: ca } = config
  return {
    ...taskOptions(config),
    sole,
    scanner,
    maxReturns: config.TASK_MAX_RETURNS,
    stalledMs: config.TASK_STALLED_SECONDS * 1000,
    storage: config.LOCAL_STORAGE_PATH,
    temp: config.TEMP_STORAGE_PATH,
    access: accessOf(config.TASK_FILES_MODE),
    tempTtlMs: config.TASK_TEMP_TTL_HOURS * 3_600_000,
    uploadMaxBytes: config.TASK_UPLOAD_MAX_BYTES,
    elsewhere: sole || config.WHARF_SHARED_DIR !== null ? '' : ELSEWHERE,
    grpc: {
      host: config.TASK_GRPC_HOST,
      port: config.TASK_GRPC_PORT,
      mayMove: !config.given.has('TASK_GRPC_PORT'),
      token: config.TASK_GRPC_TOKEN,
      tls: cert !== null && key !== null ? { cert, key, ca } : null,
    },
    processor: processorSettings(config),
  }
}

export function taskOptions(config: Config) {
  return {
    redis: config.redisUrl === null ? null : { url: config.redisUrl, prefix: config.WHARF_REDIS_PREFIX },
    queueKey: config.TASK_QUEUE_KEY,
    ttlDays: config.TASK_TTL_DAYS,
    aliveMs: config.WHARF_LEASE_SECONDS * 1000,
  }
}

export function processorSettings(config: Config) {
  if (config.PROCESSOR_COMMAND === null) return null
  return {
    command: config.PROCESSOR_COMMAND,
    concurrency: config.TASK_PROCESSOR_CONCURRENCY,
    timeoutMs: config.TASK_PROCESSOR_TIMEOUT_SECONDS * 1000,
    retries: config.TASK_PROCESSOR_RETRIES,
    resultName: config.TASK_RESULT_NAME,
    drainMs: config.WHARF_DRAIN_SECONDS * 1000,
    access: accessOf(config.TASK_FILES_MODE),
    environment: config.commandEnvironment,
  }
}
