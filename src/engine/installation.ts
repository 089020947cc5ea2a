import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashSecret, newSecret } from './projects/secrets.ts'
import { Sealer } from './sealer.ts'
import type { SettingsStore } from './settings-store.ts'

export interface GivenSecrets {
  adminToken: string | null
  sealKey: string | null
}

export interface Installation {
  adminTokenHash: string
  /** Where the token that was made on first start is kept; null when it was given, or made by another instance. */
  adminTokenFile: string | null
  sealer: Sealer
}

/**
 * The secrets of one installation. What is not given is made on first start and kept in the data dir; the ledger keeps
 * the token's hash, so that another instance with a data dir of its own accepts the same token.
 */
export async function openInstallation(
  dataDir: string,
  settings: SettingsStore,
  { adminToken, sealKey }: GivenSecrets,
): Promise<Installation> {
  const sealer = new Sealer(sealKey ?? (await settings.getOrCreate('seal_key', () => newSecret('seal_'))))
  if (adminToken !== null) return { adminTokenHash: hashSecret(adminToken), adminTokenFile: null, sealer }
  const file = join(dataDir, 'admin-token')
  const kept = readSecret(file)
  if (kept !== undefined) return { adminTokenHash: hashSecret(kept), adminTokenFile: file, sealer }
  const made = newSecret('wharf_admin_')
  const adminTokenHash = await settings.getOrCreate('admin_token_hash', () => hashSecret(made))
  if (adminTokenHash !== hashSecret(made)) return { adminTokenHash, adminTokenFile: null, sealer }
  keepSecret(file, made)
  return { adminTokenHash, adminTokenFile: file, sealer }
}

export function readSecret(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

export function keepSecret(file: string, secret: string): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
}
