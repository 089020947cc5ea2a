import type { Clock, SecretMask } from '../../../kernel/index.ts'
import { type HttpClient, type HttpResponse, type HttpTimeouts, signPull } from '../../../net/index.ts'
import type { Credentials } from './credentials.ts'

export interface SourceRequest {
  url: string
  method?: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  /** The address is of another origin than the source: it gets to see neither credentials nor signature. */
  foreign?: boolean
}

export interface SourceAsker {
  http: HttpClient
  clock: Clock
  /** The project's webhook secrets; without any, pulls are not signed. */
  secrets: readonly string[]
  credentials: Credentials | undefined
  /** Learns of tokens, which nobody knew when the request was made. */
  mask?: SecretMask | undefined
}

const UNAUTHORIZED = 401

/** Asks with credentials and signature. A token that the source refuses is fetched anew, once. */
export async function askSource(
  { http, clock, secrets, credentials, mask }: SourceAsker,
  { url, method = 'GET', headers, body, foreign = false }: SourceRequest,
  { signal, timeouts }: { signal: AbortSignal; timeouts: HttpTimeouts },
): Promise<HttpResponse> {
  const ask = async (authorization: string | undefined) => {
    if (authorization !== undefined) mask?.addHeaders({ authorization })
    return http.request({
      url,
      domain: 'exports',
      method,
      headers: { ...headers, ...(authorization !== undefined && { authorization }) },
      ...(body !== undefined && { body }),
      ...(secrets.length > 0 &&
        !foreign && { sign: (hop: URL) => signPull(secrets, { url: hop, now: clock.now() }) }),
      signal,
      timeouts,
    })
  }
  if (!credentials || foreign) return ask(undefined)
  const authorization = await credentials.authorization(signal)
  const answer = await ask(authorization)
  if (answer.status !== UNAUTHORIZED || !credentials.renew(authorization)) return answer
  answer.body.destroy()
  return ask(await credentials.authorization(signal))
}
