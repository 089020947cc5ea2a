import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashSecret, newSecret } from './projects/secrets.ts'
import { Sealer } from './sealer.ts'
import type { SettingsStore } from './settings-store.ts'

export interface GivenSecrets {
  adminToken: string | null
  agentToken?: string | null
  sealKey: string | null
}

export interface Installation {
  adminTokenHash: string
  /** Where the token that was made on first start is kept; null when it was given, or made by another instance. */
  adminTokenFile: string | null
  agentTokenHash: string
  sealer: Sealer
}

/**
 * The secrets of one installation. What is not given is made on first start and kept in the data dir; the ledger keeps
 * the token's hash, so that another instance with a data dir of its own accepts the same token.
 */
export async function openInstallation(
  dataDir: string,
  settings: SettingsStore,
  { adminToken, agentToken = null, sealKey }: GivenSecrets,
): Promise<Installation> {
  const sealer = await openSealer(settings, sealKey)
  const admin = await openToken(dataDir, settings, { name: 'admin', given: adminToken })
  const agent = await openToken(dataDir, settings, { name: 'agent', given: agentToken })
  return { adminTokenHash: admin.hash, adminTokenFile: admin.file, agentTokenHash: agent.hash, sealer }
}

export async function openSealer(settings: SettingsStore, sealKey: string | null): Promise<Sealer> {
  return new Sealer(sealKey ?? (await settings.getOrCreate('seal_key', () => newSecret('seal_'))))
}

async function openToken(
  dataDir: string,
  settings: SettingsStore,
  { name, given }: { name: 'admin' | 'agent'; given: string | null },
): Promise<{ hash: string; file: string | null }> {
  if (given !== null) return { hash: hashSecret(given), file: null }
  const file = join(dataDir, `${name}-token`)
  const kept = readSecret(file)
  if (kept !== undefined) return { hash: hashSecret(kept), file }
  const made = newSecret(`wharf_${name}_`)
  const hash = await settings.getOrCreate(`${name}_token_hash`, () => hashSecret(made))
  if (hash !== hashSecret(made)) return { hash, file: null }
  keepSecret(file, made)
  return { hash, file }
}

export function readSecret(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

export function keepSecret(file: string, secret: string): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
}
