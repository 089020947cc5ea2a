import type { Clock } from '../../../kernel/index.ts'
import type { HttpClient } from '../../../net/index.ts'
import { ClientToken } from './client-token.ts'
import { basicHeader, type Credentials } from './credentials.ts'
import type { HttpAuth } from './http-source.ts'

export function openCredentials(
  deps: { http: HttpClient; clock: Clock },
  { auth, url }: { auth: HttpAuth | null; url: string },
): Credentials | undefined {
  if (auth?.kind === 'oauth2') return new ClientToken(deps, auth)
  const basic = auth ?? userinfoOf(url)
  if (!basic) return undefined
  const authorization = basicHeader(basic.username, basic.password)
  return { authorization: async () => authorization, renew: () => false }
}

/** `https://name:password@host/…`: next links do not repeat it. */
function userinfoOf(url: string): { username: string; password: string } | undefined {
  const { username = '', password = '' } = URL.parse(url) ?? {}
  if (username === '' && password === '') return undefined
  return { username: decoded(username), password: decoded(password) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
