import type { Clock, SecretMask } from '../../kernel/index.ts'
import type { HttpClient } from '../../net/index.ts'
import { askSource, type Credentials } from './http/index.ts'
import type { PageAnswer, PageSource } from './pages/index.ts'

export interface HttpPageSourceOptions {
  url: string
  headers: Record<string, string>
  /** The project's webhook secrets; without any, pulls are not signed. */
  secrets: readonly string[]
  credentials?: Credentials | undefined
}

/**
 * A page far down a large table may take the source a minute to find. How long one may take in all is the page getter's
 * affair, so the client's own, shorter patience must not end it before.
 */
const TIMEOUTS = { headersMs: 300_000, bodyMs: 300_000, totalMs: 300_000 }

/** Pages of a `source_url`, whose own query parameters are passed on as they are. */
export class HttpPageSource implements PageSource {
  readonly #deps: { http: HttpClient; clock: Clock; mask?: SecretMask | undefined }
  readonly #options: HttpPageSourceOptions

  constructor(
    deps: { http: HttpClient; clock: Clock; mask?: SecretMask | undefined },
    options: HttpPageSourceOptions,
  ) {
    this.#deps = deps
    this.#options = options
  }

  async get(page: number, pageSize: number, signal: AbortSignal): Promise<PageAnswer> {
    const { url, headers, secrets, credentials } = this.#options
    const answer = await askSource(
      { ...this.#deps, secrets, credentials },
      { url: pageUrl(url, page, pageSize), headers: { accept: 'application/json', ...headers } },
      { signal, timeouts: TIMEOUTS },
    )
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: answer.body }
  }
}

function pageUrl(url: string, page: number, pageSize: number): string {
  const [address = ''] = url.split('#', 1)
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&'
  return `${address}${joint}page=${page}&page_size=${pageSize}`
}
