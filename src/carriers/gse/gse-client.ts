import { AppError, type Clock, ERRORS, SecretMask } from '../../kernel/index.ts'
import { expectOk, type HttpClient, readAll } from '../../net/index.ts'

export interface GseOptions {
  endpoint: string
  appCode: string
  appSecret: string
  username: string
  tenantId: string
  /** The agent on this server's own host, from which files are read. */
  agentId: string
  containerId: string
  agentUser: string
}

export interface GseClientDeps {
  http: Pick<HttpClient, 'request'>
  clock: Clock
}

interface GseAnswer {
  code: number
  message: string
  data: unknown
}

const MOST_BYTES = 64 * 1024 * 1024
const TIMEOUTS = { headersMs: 20_000, bodyMs: 20_000, totalMs: 60_000 }

/** Calls of a GSE through its API gateway. Answers with `data`, or throws what the GSE says is wrong. */
export class GseClient {
  readonly #deps: GseClientDeps
  readonly #base: string
  readonly #headers: Record<string, string>
  readonly #mask: SecretMask

  constructor(deps: GseClientDeps, options: GseOptions) {
    this.#deps = deps
    this.#mask = new SecretMask().add(options.appSecret).addUrl(options.endpoint)
    this.#base = `${options.endpoint.replace(/\/+$/, '')}/api/v2/task/extensions`
    this.#headers = {
      'content-type': 'application/json',
      'X-Bkapi-Authorization': JSON.stringify({
        bk_app_code: options.appCode,
        bk_app_secret: options.appSecret,
        bk_username: options.username,
      }),
      ...(options.tenantId !== '' && { 'X-Bk-Tenant-Id': options.tenantId }),
    }
  }

  call(name: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return this.#mask.guard(() => this.#call(name, body, signal))
  }

  async #call(name: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const response = await this.#deps.http.request({
      url: `${this.#base}/${name}`,
      method: 'POST',
      domain: 'transfers',
      headers: this.#headers,
      body: JSON.stringify(body),
      signal,
      timeouts: TIMEOUTS,
    })
    const text = await readAll(response.body, MOST_BYTES)
    expectOk(response, this.#deps.clock.now())
    // What it says of a target is stored and shown as well as its errors are.
    const { code, message, data } = this.#mask.value(parse(text.toString('utf8'), name))
    if (code === 0) return data
    throw new AppError(ERRORS.TRANSFER_ENGINE_REFUSED, `GSE ${name}: ${message} (code ${code})`, {
      retryable: false,
      details: { errorCode: code },
    })
  }
}

function parse(text: string, name: string): GseAnswer {
  try {
    const answer = JSON.parse(text) as Partial<GseAnswer> | null
    if (Number.isSafeInteger(answer?.code))
      return { code: answer?.code as number, message: textOf(answer?.message), data: answer?.data }
  } catch {}
  // A gateway's error page, say: another try may reach the GSE itself.
  throw new AppError(ERRORS.TRANSFER_ENGINE_ANSWER, `GSE ${name} answered with something else than JSON`)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '')
}
