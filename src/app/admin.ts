import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import {
  AppError,
  createLog,
  ERRORS,
  isAppError,
  readAddress,
  readSecret,
  systemClock,
} from '../kernel/index.ts'
import { openSealer, SettingsStore } from '../tenancy/index.ts'
import { ledgerAdmin } from './admin/ledger-admin.ts'
import type { ProjectAdmin } from './admin/project-admin.ts'
import { serverAdmin } from './admin/server-admin.ts'
import { openBackend } from './ground/open-backend.ts'

export type { NewKey, Rotation } from '../tenancy/index.ts'
export type { ProjectAdmin } from './admin/project-admin.ts'
export { Applied, askServer } from './admin/server-admin.ts'

/**
 * For commands about projects and keys: the server at `server`, else the ledger of the settings. A ledger that a server
 * keeps to itself is changed through that server, which has left its address in the data dir.
 */
export async function openProjectAdmin(config: Config, server?: string): Promise<ProjectAdmin> {
  if (server !== undefined) return serverAdmin(server, adminTokenOf(config))
  try {
    return await openLedgerAdmin(config)
  } catch (error) {
    if (!isAppError(error, ERRORS.DATA_DIR_LOCKED) && !isAppError(error, ERRORS.SINGLE_INSTANCE)) throw error
    const running = readAddress(config.WHARF_DATA_DIR)
    if (running !== undefined) return serverAdmin(running, adminTokenOf(config))
    throw new AppError(
      error.kind,
      'a Wharf runs on this ledger, and its address is not known; give --server URL',
      {
        cause: error,
      },
    )
  }
}

async function openLedgerAdmin(config: Config): Promise<ProjectAdmin> {
  const { WHARF_DATA_DIR: dataDir, DATABASE_URL: databaseUrl, WHARF_SEAL_KEY: sealKey } = config
  // A command in the wrong folder must not begin a new installation there.
  if (databaseUrl === null && !existsSync(join(dataDir, 'ledger.db')))
    throw new AppError(
      ERRORS.CONFIG_INVALID,
      `there is no Wharf in ${dataDir}; give --server URL, or set WHARF_DATA_DIR or DATABASE_URL as for 'wharf serve'`,
    )
  const log = createLog({ level: 'silent' })
  const { redisUrl, WHARF_REDIS_PREFIX: redisPrefix } = config
  const backend = await openBackend(
    { dataDir, databaseUrl, redisUrl, redisPrefix, sealKey, leaseMs: config.WHARF_LEASE_SECONDS * 1_000 },
    systemClock,
    log,
  )
  try {
    return ledgerAdmin(backend, await openSealer(new SettingsStore(backend.ledger), sealKey))
  } catch (error) {
    await backend.close()
    throw error
  }
}

function adminTokenOf({ WHARF_ADMIN_TOKEN, WHARF_DATA_DIR }: Config): string {
  const token = WHARF_ADMIN_TOKEN ?? readSecret(join(WHARF_DATA_DIR, 'admin-token'))
  if (token !== undefined) return token
  throw new AppError(
    ERRORS.CONFIG_INVALID,
    'this needs the admin token: set WHARF_ADMIN_TOKEN or WHARF_ADMIN_TOKEN_FILE',
  )
}
