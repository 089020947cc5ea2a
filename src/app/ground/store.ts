import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Clock } from '../../kernel/index.ts'
import { type ArtifactStore, DiskStore, openS3Store, SealedStore } from '../../storage/index.ts'

/** Where files live, encrypted or not. With the key, files that were encrypted are read even while no more are. */
export async function openStore(config: Config, clock: Clock): Promise<ArtifactStore> {
  const store = await openPlainStore(config, clock)
  const { WHARF_SEAL_KEY: sealKey, WHARF_ENCRYPT_FILES } = config
  return sealKey === null ? store : new SealedStore(store, { sealKey, encrypt: WHARF_ENCRYPT_FILES === 'on' })
}

/** Where files live, as they are kept there. */
export async function openPlainStore(config: Config, clock: Clock): Promise<ArtifactStore> {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config
  if (bucket === null || accessKeyId === null || secretAccessKey === null) {
    return DiskStore.open({ clock }, { root: localFiles(config) })
  }
  return openS3Store(
    { clock },
    {
      endpoint: s3Endpoint(config),
      region: config.S3_REGION,
      bucket,
      accessKeyId,
      secretAccessKey,
      ...(config.CDN_BASE_URL !== null && { cdnBaseUrl: config.CDN_BASE_URL }),
    },
  )
}

/** The folder of the store, where that is on this machine. */
export function localFiles({ filesDir }: Config): string {
  return join(filesDir, 'files')
}

/** The store outside this machine, in words that all instances have in common; null: files are in a folder. */
export function remoteStore(config: Config): string | null {
  return config.S3_BUCKET === null ? null : `the bucket ${config.S3_BUCKET} at ${s3Endpoint(config)}`
}

function s3Endpoint(config: Config): string {
  return config.S3_ENDPOINT ?? `https://s3.${config.S3_REGION}.amazonaws.com`
}
