import type { Clock } from '../kernel/index.ts'
import type { ArtifactStore } from './artifact-store.ts'
import type { S3Options } from './s3/index.ts'

/** Loaded only where files live in S3. */
export async function openS3Store(deps: { clock?: Clock }, options: S3Options): Promise<ArtifactStore> {
  const { S3Store } = await import('./s3/s3-store.ts')
  return new S3Store(deps, options)
}
