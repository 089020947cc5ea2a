/// <reference path="./oidc-provider.d.ts" />
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { Front } from './front.ts'

export interface Account {
  sub: string
  name?: string
  /** More claims, like roles. */
  [claim: string]: unknown
}

const HOUR = 3_600
const KEY = {
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  use: 'sig',
  alg: 'RS256',
}
const CLIENT = { id: 'wharf', secret: 'a secret of the client' }

/** A real OpenID Connect issuer on loopback. Whoever comes is the account that the test has put before it. */
export class OidcIssuer {
  account: Account = { sub: 'lin', name: 'Lin Wei', wharf_roles: ['admin'] }
  readonly #front: Front
  readonly #server: Server
  readonly #redirects: string[] = []
  #status: number | undefined

  private constructor(front: Front, server: Server) {
    this.#front = front
    this.#server = server
  }

  /** `page`: people press a button of the issuer's page, in place of being led on at once. */
  static async start({ page = false, idTokenRoles = true } = {}): Promise<OidcIssuer> {
    const front = await Front.open()
    const server = createServer()
    const issuer = new OidcIssuer(front, server)
    const provider = issuer.#provider(front.url, idTokenRoles)
    const answer = provider.callback()
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (issuer.#status !== undefined)
        return response.writeHead(issuer.#status, { 'content-type': 'text/html' }).end('<h1>away</h1>')
      if (!request.url?.startsWith('/interaction/')) return answer(request, response)
      if (page && request.method === 'GET')
        return response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<title>Issuer</title><form method="post"><button>Continue</button></form>')
      const login = { accountId: issuer.account.sub }
      provider
        .interactionFinished(request, response, { login })
        .catch((error) => response.writeHead(500).end(String(error)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    issuer.up()
    return issuer
  }

  /** Settings of a Wharf that believes it. */
  get env(): Record<string, string> {
    return { OIDC_ISSUER: this.#front.url, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret }
  }

  get url(): string {
    return this.#front.url
  }

  /** Lets a Wharf at this address have people sent back. */
  allow(wharf: string): void {
    this.#redirects.push(`${wharf}/auth/callback`)
  }

  down(): void {
    this.#front.to = undefined
    this.#front.cut()
  }

  /** In place of what it should, it answers a page with this status, as a proxy before it does. */
  fail(status: number): void {
    this.#status = status
  }

  up(): void {
    this.#status = undefined
    this.#front.to = (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await this.#front.close()
  }

  #provider(url: string, idTokenRoles: boolean): Provider {
    const find = async (_: unknown, sub: string) => ({
      accountId: sub,
      claims: async (use: string) => {
        const { wharf_roles, ...others } = this.account
        return use === 'id_token' && !idTokenRoles ? others : { ...others, wharf_roles }
      },
    })
    const provider: Provider = new Provider(url, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          // A Wharf's port is known only once it has started, see below.
          redirect_uris: ['http://127.0.0.1/auth/callback'],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      claims: { openid: ['sub', 'wharf_roles'], profile: ['name'], email: ['email'] },
      conformIdTokenClaims: false,
      jwks: { keys: [KEY] },
      ttl: { Interaction: HOUR, Grant: HOUR, Session: HOUR, AccessToken: HOUR, IdToken: HOUR },
      features: { devInteractions: { enabled: false } },
      cookies: { keys: ['for tests'] },
      pkce: { required: () => true },
      findAccount: find,
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      // Nobody is asked whether Wharf may know who they are.
      async loadExistingGrant(context: {
        oidc: { client: { clientId: string }; session: { accountId: string } }
      }) {
        const { client, session } = context.oidc
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
        grant.addOIDCScope('openid profile email')
        await grant.save()
        return grant
      },
    })
    const { Client } = provider as unknown as {
      Client: { prototype: { redirectUriAllowed(uri: string): boolean } }
    }
    Client.prototype.redirectUriAllowed = (uri) => this.#redirects.includes(uri)
    return provider
  }
}
