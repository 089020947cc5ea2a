import type { ClientAuth, Configuration } from 'openid-client'
import { AppError, bestEffort, ERRORS, SecretMask } from '../../kernel/index.ts'

export interface IdentityProviderOptions {
  issuer: string
  clientId: string
  /** null: a public client, which PKCE alone protects. */
  clientSecret: string | null
  /** Where a person's roles are. */
  roleClaim: string
  scopes: string
}

/** What a sign-in that was begun has to be finished with. */
export interface Begun {
  state: string
  nonce: string
  verifier: string
  redirectUri: string
}

type Client = typeof import('openid-client')
export type Claims = Record<string, unknown> & { sub: string }

/** How long the issuer's own description is believed; its keys are read again when one is not known. */
const KNOWN_MS = 3_600_000
/** The same for a sign-in that begins: an issuer that is away since would be a page of the browser, and not one of Wharf. */
const SEEN_MS = 5_000
const ANSWER_SECONDS = 10

/**
 * An OpenID Connect issuer that names people: authorization code with PKCE, state and nonce; ID tokens are checked for their
 * signature, too. Nothing is asked before somebody signs in, so an issuer that is away stops nothing but sign-ins.
 */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions
  #known: { at: number; config: Promise<Configuration> } | undefined

  constructor(options: IdentityProviderOptions) {
    this.#options = options
  }

  get roleClaim(): string {
    return this.#options.roleClaim
  }

  /** Where the browser is sent, and what to remember until it comes back. */
  async begin(redirectUri: string): Promise<{ url: string; begun: Begun }> {
    const client = await import('openid-client')
    const config = await this.#configuration(client, SEEN_MS)
    const begun = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      redirectUri,
    }
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: this.#options.scopes,
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, begun }
  }

  /** Who came back; `query` is what the issuer gave along. */
  async finish(query: string, { state, nonce, verifier, redirectUri }: Begun): Promise<Claims> {
    const client = await import('openid-client')
    const config = await this.#configuration(client)
    try {
      const tokens = await client.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims() as Claims
      const complete = claimAt(claims, this.#options.roleClaim) !== undefined
      if (complete || config.serverMetadata().userinfo_endpoint === undefined) return claims
      return { ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims }
    } catch (error) {
      throw this.#masked(isAway(error) ? unavailable(error) : refused(client, error))
    }
  }

  async #configuration(client: Client, goodForMs = KNOWN_MS): Promise<Configuration> {
    const known = this.#known
    if (known && performance.now() - known.at < goodForMs) return known.config
    const asked = { at: performance.now(), config: this.#discover(client) }
    this.#known = asked
    // A failure is not remembered: the next sign-in asks again.
    bestEffort(asked.config, () => {
      if (this.#known === asked) this.#known = undefined
    })
    return asked.config
  }

  async #discover(client: Client): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#options
    try {
      const execute = [client.enableNonRepudiationChecks]
      // The settings let http:// through for loopback alone.
      if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests)
      return await client.discovery(new URL(issuer), clientId, {}, authenticate(client, clientSecret), {
        execute,
        timeout: ANSWER_SECONDS,
      })
    } catch (error) {
      throw this.#masked(unavailable(error))
    }
  }

  #masked(error: AppError): AppError {
    return new SecretMask().add(this.#options.clientSecret).error(error)
  }
}

/** The secret in the way that the issuer takes; without a word from it, in a header, as the standard says. */
function authenticate(client: Client, secret: string | null): ClientAuth {
  if (secret === null) return client.None()
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest)
  }
}

/** By its whole name, which may have dots and be an address, or else as a path. */
export function claimAt(claims: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Record<string, unknown>)[part]
  }
  return found
}

/**
 * The way to the issuer failed, or it has trouble of its own; nobody did anything wrong. An answer that is not OpenID Connect
 * at all is the page of a proxy, or of its maintenance.
 */
function isAway(error: unknown): boolean {
  for (let cause = error; typeof cause === 'object' && cause !== null; ) {
    const { name, message, code, status } = cause as Record<string, unknown>
    if (name === 'TimeoutError' || message === 'fetch failed' || message === 'terminated') return true
    if (NO_ANSWER.has(String(code)) || Number(status) >= 500) return true
    cause = (cause as { cause?: unknown }).cause
  }
  return false
}

const NO_ANSWER = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'])

function unavailable(cause: unknown): AppError {
  const message = 'the identity provider does not answer as it should, so nobody can sign in with it now'
  return new AppError(ERRORS.ISSUER_UNAVAILABLE, message, { cause, retryAfter: 10 })
}

function refused(client: Client, cause: unknown): AppError {
  // What the issuer itself says is for the person; what the checks found is for the log.
  const said =
    cause instanceof client.AuthorizationResponseError ? (cause.error_description ?? cause.error) : ''
  const reason =
    said === '' ? 'its answer was used before, is too old, or is not meant for this sign-in' : said
  return new AppError(ERRORS.SIGN_IN_FAILED, `the identity provider did not sign you in: ${reason}`, {
    cause,
  })
}
