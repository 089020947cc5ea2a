import type { Config } from '../../config.ts'
import { IdentityProvider } from '../../http/index.ts'

/** Who names people, where the settings say so. Nothing is asked of it before somebody signs in. */
export function identityProvider(config: Config): IdentityProvider | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config
  if (issuer === null || clientId === null) return null
  return new IdentityProvider({
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    roleClaim: config.OIDC_ROLE_CLAIM,
    scopes: config.OIDC_SCOPES,
  })
}
