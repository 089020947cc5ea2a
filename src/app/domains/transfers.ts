import { type CarriersOptions, type FileOf, openCarriers } from '../../carriers/index.ts'
import type { Config } from '../../config.ts'
import type { Ground } from '../../domain/index.ts'
import { findExportFile } from '../../exports/index.ts'
import { VERSION } from '../../version.ts'

export function transfersOptions(config: Config, ground: Ground) {
  return {
    dataDir: config.WHARF_DATA_DIR,
    windowSeconds: config.COLLECT_WINDOW_SECONDS,
    timeoutSeconds: config.JOB_TIMEOUT_SECONDS,
    ttlSeconds: config.TRANSFER_TTL_SECONDS,
    maxFileBytes: config.WHARF_REPOSITORY_MAX_BYTES,
    redis: config.redisUrl === null ? null : { url: config.redisUrl, prefix: config.WHARF_REDIS_PREFIX },
    carriers: (fileOf: FileOf) => openCarriers(ground, fileOf, carriersOptions(config)),
    exportFile: (taskId: string) => findExportFile(ground.ledger, taskId),
  }
}

function carriersOptions(config: Config): CarriersOptions {
  return {
    carrier: config.TRANSFER_ENGINE,
    swarm: {
      host: config.WHARF_HOST,
      port: config.WHARF_SWARM_PORT,
      advertiseHost: config.WHARF_SWARM_HOST,
      depth: config.WHARF_SWARM_CHAIN_DEPTH,
      maxChains: config.WHARF_SWARM_CHAINS,
    },
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
    userAgent: `wharf/${VERSION}`,
  }
}
