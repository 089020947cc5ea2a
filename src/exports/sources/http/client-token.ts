import { AppError, type Clock, ERRORS, excerpt, SecretMask } from '../../../kernel/index.ts'
import { type HttpClient, type HttpResponse, readAll } from '../../../net/index.ts'
import { basicHeader, type Credentials } from './credentials.ts'
import type { HttpAuth } from './http-source.ts'

type ClientGrant = Extract<HttpAuth, { kind: 'oauth2' }>

interface HeldToken {
  authorization: string
  /** By the clock. */
  endsAt: number
}

const MAX_ANSWER = 64 * 1024
/** A token is not used in its last moments: a page asked for with it may take a while to be looked at. */
const LAST_MS = 30_000

/**
 * A token of the OAuth 2.0 client credentials grant (RFC 6749, 4.4): fetched when it is first needed, anew before it ends, and anew
 * when a source refuses it. Pages that are asked for at the same time share one.
 */
export class ClientToken implements Credentials {
  readonly #deps: { http: HttpClient; clock: Clock }
  readonly #grant: ClientGrant
  #held: HeldToken | undefined
  #coming: Promise<HeldToken> | undefined

  constructor(deps: { http: HttpClient; clock: Clock }, grant: ClientGrant) {
    this.#deps = deps
    this.#grant = grant
  }

  async authorization(signal: AbortSignal): Promise<string> {
    if (this.#held && this.#held.endsAt > this.#deps.clock.now()) return this.#held.authorization
    this.#coming ??= this.#fetch(signal).finally(() => {
      this.#coming = undefined
    })
    this.#held = await this.#coming
    return this.#held.authorization
  }

  /** Unless another page has renewed it meanwhile. */
  renew(refused: string): boolean {
    if (this.#held?.authorization === refused) this.#held = undefined
    return true
  }

  #fetch(signal: AbortSignal): Promise<HeldToken> {
    const { token_url, client_id, client_secret } = this.#grant
    const mask = new SecretMask()
      .addUrl(token_url)
      .addHeaders({ authorization: basicHeader(client_id, client_secret) })
      .add(client_secret)
    return mask.guard(() => this.#ask(signal))
  }

  async #ask(signal: AbortSignal): Promise<HeldToken> {
    const asked = this.#deps.clock.now()
    let answer = await this.#send({ inBody: false }, signal)
    // Some servers take the secret in the body only.
    if (answer.status === 400 || answer.status === 401) {
      answer.body.destroy()
      answer = await this.#send({ inBody: true }, signal)
    }
    const text = (await readAll(answer.body, MAX_ANSWER)).toString('utf8')
    const { access_token, token_type = 'bearer', expires_in } = membersOf(text)
    if (answer.status !== 200 || typeof access_token !== 'string')
      throw refusal(this.#grant.token_url, answer.status, text)
    if (!/^bearer$/i.test(String(token_type)))
      throw refusal(
        this.#grant.token_url,
        answer.status,
        '',
        `gives tokens of the type ${excerpt(String(token_type), 100)}`,
      )
    const lives = Number(expires_in ?? Number.NaN) * 1_000
    // A token that lives shorter than its last moments is used for half of its life.
    const endsAt = Number.isFinite(lives) ? asked + Math.max(lives - LAST_MS, lives / 2) : Infinity
    return { authorization: `Bearer ${access_token}`, endsAt }
  }

  #send({ inBody }: { inBody: boolean }, signal: AbortSignal): Promise<HttpResponse> {
    const { token_url, client_id, client_secret, scope } = this.#grant
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope !== undefined && { scope }),
    })
    if (inBody)
      for (const [name, value] of Object.entries({ client_id, client_secret })) form.set(name, value)
    const authorization = basicHeader(encodeURIComponent(client_id), encodeURIComponent(client_secret))
    return this.#deps.http.request({
      url: token_url,
      domain: 'exports',
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(!inBody && { authorization }),
      },
      body: form.toString(),
      // The secret is for this server alone.
      mayStray: false,
      signal,
    })
  }
}

function membersOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The server's own words (RFC 6749, 5.2). */
function refusal(url: string, status: number, text: string, reason?: string): AppError {
  const { error, error_description } = membersOf(text)
  const said = [error, error_description].filter((part) => typeof part === 'string').join(': ')
  const what = reason ?? `answered with status ${status}${said === '' ? '' : ` (${excerpt(said, 300)})`}`
  const passing = status >= 500 || status === 429
  return new AppError(ERRORS.SOURCE_TOKEN_REFUSED, `${URL.parse(url)?.host} ${what}`, { retryable: passing })
}
