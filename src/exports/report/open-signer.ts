import { generateKeyPairSync } from 'node:crypto'
import type { Sealer, SettingsStore } from '../../tenancy/index.ts'
import { ManifestSigner } from './manifest.ts'

/** The installation's key, made on first start and shared by its instances; sealed in the ledger. */
export async function openSigner(settings: SettingsStore, sealer: Sealer): Promise<ManifestSigner> {
  const sealed = await settings.getOrCreate('manifest_key', () => sealer.seal(newKey()))
  return new ManifestSigner(sealer.open(sealed))
}

export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
}
