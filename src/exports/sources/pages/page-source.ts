/** One answer of a source. `body` is decoded (no gzip, no chunking) and is read at most once. */
export interface PageAnswer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array>
}

/**
 * Where pages come from. Redirects, content encodings, the address guard and signing are its own. An error that is
 * thrown with `retryable: false` ends the fetch at once; any other counts as a failed try.
 */
export interface PageSource {
  get(page: number, pageSize: number, signal: AbortSignal): Promise<PageAnswer>
}
