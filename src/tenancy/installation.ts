import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, ERRORS, keepSecret, readSecret } from '../kernel/index.ts'
import { Sealer } from './sealer.ts'
import { hashSecret, newSecret } from './secrets.ts'
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
  /** Where the key is that seals the secrets in the ledger, for the operator. */
  sealedBy: string
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
  const sealer = await openSealer(settings, sealKey)
  const admin = await openToken(dataDir, settings, { name: 'admin', given: adminToken })
  const sealedBy = sealKey === null ? SEALED_BESIDE : SEALED_APART
  return { adminTokenHash: admin.hash, adminTokenFile: admin.file, sealer, sealedBy }
}

const SEALED_APART = 'secrets in the ledger are sealed by WHARF_SEAL_KEY, which is not kept there'
const SEALED_BESIDE =
  'secrets in the ledger are sealed by a key in the same ledger, so a reader of the whole ledger can open them; set WHARF_SEAL_KEY or WHARF_SEAL_KEY_FILE to keep the key apart'

/** Refuses a key that is not the one that this ledger's secrets were sealed with. */
export async function openSealer(settings: SettingsStore, sealKey: string | null): Promise<Sealer> {
  const made = await settings.get('seal_key')
  const key = sealKey ?? made ?? (await settings.getOrCreate('seal_key', () => newSecret('seal_')))
  // What was sealed before the key was given is still opened with the one that was made.
  const sealer = new Sealer(key, made !== undefined && made !== key ? [made] : [])
  const check = await settings.getOrCreate(sealKey === null ? 'seal_check' : 'seal_check_given', () =>
    sealer.seal('wharf'),
  )
  const given = sealKey === null && (await settings.get('seal_check_given')) !== undefined
  if (given || !opens(sealer, check))
    throw new AppError(
      ERRORS.CONFIG_INVALID,
      'WHARF_SEAL_KEY must be the key that the secrets in this ledger were sealed with',
    )
  return sealer
}

/** Whether a server with this key would start on a ledger with these settings. */
export function opensSecrets(settings: ReadonlyMap<string, string>, sealKey: string | null): boolean {
  const check = settings.get(sealKey === null ? 'seal_check' : 'seal_check_given')
  if (sealKey === null && settings.has('seal_check_given')) return false
  const key = sealKey ?? settings.get('seal_key')
  return check === undefined || key === undefined || opens(new Sealer(key), check)
}

function opens(sealer: Sealer, sealed: string): boolean {
  try {
    return sealer.open(sealed) === 'wharf'
  } catch {
    return false
  }
}

/** A secret that all instances share, sealed. One that an older version kept as it is gets sealed. */
export async function sharedSecret(settings: SettingsStore, sealer: Sealer, name: string): Promise<string> {
  const kept = await settings.getOrCreate(`${name}_key`, () => sealer.seal(newSecret(`${name}_`)))
  if (!kept.startsWith(`${name}_`)) return sealer.open(kept)
  await settings.set(`${name}_key`, sealer.seal(kept))
  return kept
}

async function openToken(
  dataDir: string,
  settings: SettingsStore,
  { name, given }: { name: 'admin'; given: string | null },
): Promise<{ hash: string; file: string | null }> {
  if (given !== null) return { hash: hashSecret(given), file: null }
  const file = join(dataDir, `${name}-token`)
  const kept = readSecret(file)
  if (kept !== undefined && !/^\S{16,}$/.test(kept))
    throw new AppError(
      ERRORS.CONFIG_INVALID,
      `${file} must hold the admin token alone, at least 16 characters without blanks; put it back, or set WHARF_ADMIN_TOKEN`,
    )
  const made = kept ?? newSecret(`wharf_${name}_`)
  // Before the ledger: a start that does not hear of its commit must not lose the token that the ledger has.
  if (kept === undefined) keepSecret(file, made)
  const hash = await settings.getOrCreate(`${name}_token_hash`, () => hashSecret(made))
  if (kept !== undefined || hash === hashSecret(made)) return { hash: hashSecret(made), file }
  // Another instance was first.
  rmSync(file, { force: true })
  return { hash, file: null }
}
