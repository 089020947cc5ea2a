import { type Log, SecretMask } from '../../kernel/index.ts'
import type { Table } from '../request/index.ts'

interface Secretive {
  request: { tables: readonly Table[] }
  sourceHeaders: Readonly<Record<string, string>>
  /** Sign the requests to the source. */
  secrets: readonly string[]
}

/** Does work that asks the sources of a request. What it logs or throws repeats none of the secrets that they got to see. */
export function maskingSecrets<D extends { log: Log }, T>(
  deps: D,
  options: Secretive,
  work: (deps: D & { mask: SecretMask }, mask: SecretMask) => Promise<T>,
): Promise<T> {
  const mask = maskOf(options)
  return mask.guard(() => work({ ...deps, mask, log: mask.log(deps.log) }, mask))
}

function maskOf({ request, sourceHeaders, secrets }: Secretive): SecretMask {
  const mask = new SecretMask().addHeaders(sourceHeaders).add(...secrets)
  for (const { sourceUrl, http } of request.tables) {
    mask.addUrl(sourceUrl)
    if (!http) continue
    const { url, headers, auth, body } = http
    mask.addUrl(url).addHeaders(headers).addNamed(body)
    if (auth?.kind === 'basic') mask.add(auth.password)
    if (auth?.kind === 'oauth2') mask.addUrl(auth.token_url).add(auth.client_secret)
  }
  return mask
}
