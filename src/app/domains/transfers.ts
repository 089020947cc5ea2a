import type { Config } from '../../config.ts'

export function transferSettings(config: Config) {
  return {
    dataDir: config.WHARF_DATA_DIR,
    windowSeconds: config.COLLECT_WINDOW_SECONDS,
    timeoutSeconds: config.JOB_TIMEOUT_SECONDS,
    ttlSeconds: config.TRANSFER_TTL_SECONDS,
    maxFileBytes: config.WHARF_REPOSITORY_MAX_BYTES,
    redisUrl: config.redisUrl,
    redisPrefix: config.WHARF_REDIS_PREFIX,
  }
}

export function transferEngineChoice(config: Config) {
  return {
    name: config.TRANSFER_ENGINE,
    gse: {
      endpoint: config.GSE_ENDPOINT ?? '',
      appCode: config.GSE_APP_CODE ?? '',
      appSecret: config.GSE_APP_SECRET ?? '',
      username: config.GSE_USERNAME ?? '',
      tenantId: config.GSE_TENANT_ID ?? '',
      agentId: config.GSE_AGENT_ID ?? '',
      containerId: config.GSE_CONTAINER_ID ?? '',
      agentUser: config.GSE_AGENT_USER ?? 'root',
    },
  }
}
