export { checkKey } from './artifact-key.ts'
export type {
  ArtifactSource,
  ArtifactStat,
  ArtifactStore,
  ByteRange,
  ListedArtifact,
  OpenedArtifact,
  OpenOptions,
  PutOptions,
  StoredArtifact,
  StoreHealth,
} from './artifact-store.ts'
export { clampRange } from './byte-range.ts'
export type { OpenFile } from './disk/blob-writer.ts'
export { DiskStore } from './disk/disk-store.ts'
export { type S3Options, S3Store } from './s3/s3-store.ts'
