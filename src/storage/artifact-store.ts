import type { Readable } from 'node:stream'

/** Finished files by key. Keys are relative paths such as `exports/42/orders.xlsx`; see `checkKey`. */
export interface ArtifactStore {
  /** Stores the whole or nothing: until it resolves, readers see what was there before. */
  put(key: string, source: ArtifactSource, options: PutOptions): Promise<StoredArtifact>
  /** Throws `ARTIFACT_NOT_FOUND`. What was opened stays whole even if it is replaced or deleted meanwhile. */
  open(key: string, options?: OpenOptions): Promise<OpenedArtifact>
  stat(key: string): Promise<ArtifactStat | null>
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>
  /** Every artifact whose key starts with the prefix, in no particular order. */
  list(prefix: string): AsyncIterable<ListedArtifact>
  /** Where anyone can fetch it without Wharf, or null where there is no such address. */
  publicUrl(key: string): Promise<string | null>
  healthy(signal?: AbortSignal): Promise<StoreHealth>
  /**
   * Removes what a crash left, once it is older than this. Returns how many. Where the age does not show whether
   * somebody is still writing, `inUse` is asked.
   */
  sweepStale(
    olderThanMs: number,
    signal?: AbortSignal,
    inUse?: (key: string) => Promise<boolean>,
  ): Promise<number>
  /** Ends open connections. */
  close(): Promise<void>
}

export type ArtifactSource = AsyncIterable<Uint8Array> | { readonly path: string }

export interface PutOptions {
  contentType: string
  /** What a browser should call it. */
  fileName?: string
  signal?: AbortSignal
  /** The file at `path` may be taken over instead of copied; it is gone afterwards either way. */
  move?: boolean
}

export interface StoredArtifact {
  size: number
  /** Hexadecimal, counted over the bytes as they passed. */
  sha256: string
  /** A strong entity tag with its quotes. */
  etag: string
}

export interface ArtifactStat {
  size: number
  etag: string
  contentType: string
  fileName: string | null
  modifiedAt: number
}

/** Both ends count, as in HTTP; an end beyond the last byte means the last byte. */
export interface ByteRange {
  start: number
  end?: number
}

export interface OpenOptions {
  range?: ByteRange
  signal?: AbortSignal
}

export interface OpenedArtifact extends ArtifactStat {
  /** Read it to its end or destroy it. `size` is that of the whole artifact, whatever the range. */
  stream: Readable
  /** What the stream will carry, both ends counting; null for the whole. */
  range: { start: number; end: number } | null
  /** Another one where somebody replaced or wrote to what is stored, with or without Wharf. */
  version: string
  /** The store knows that nobody did so since the bytes were hashed on their way in. */
  untouched: boolean
}

export interface ListedArtifact {
  key: string
  etag: string
  modifiedAt: number
}

export type StoreHealth = { ok: true } | { ok: false; reason: string }
