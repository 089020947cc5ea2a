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
export type { OpenFile } from './disk/blob-writer.ts'
export { DiskStore } from './disk/disk-store.ts'
export { openS3Store } from './open-s3-store.ts'
export { type ArtifactOwner, type FoundArtifact, OrphanSweeper } from './orphan-sweeper.ts'
export type { S3Options } from './s3/s3-store.ts'
export { SealedStore, type SealedStoreOptions } from './sealed/sealed-store.ts'
