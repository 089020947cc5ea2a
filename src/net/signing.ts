import { createHmac, randomUUID } from 'node:crypto'
import { AppError, ERRORS } from '../kernel/index.ts'

/** The three headers of Standard Webhooks 1.0. */
export interface SignatureHeaders extends Record<string, string> {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/** Signs the body of a callback. The id stays the same when a delivery is tried again; the time does not. */
export function signCallback(
  secrets: readonly string[],
  message: { id: string; now: number; body: string },
): SignatureHeaders {
  return sign(secrets, message.id, message.now, message.body)
}

/** Signs a pull, which has no body: the content is the full URL as it is asked for. */
export function signPull(
  secrets: readonly string[],
  pull: { url: URL; now: number; id?: string },
): SignatureHeaders {
  const url = new URL(pull.url)
  url.hash = ''
  url.username = ''
  url.password = ''
  return sign(secrets, pull.id ?? `pull_${randomUUID()}`, pull.now, url.href)
}

function sign(secrets: readonly string[], id: string, now: number, content: string): SignatureHeaders {
  if (secrets.length === 0)
    throw new AppError(ERRORS.INTERNAL, 'there is no webhook secret to sign with', { retryable: false })
  // Id, time and content are joined by full stops, so one inside the id would let two messages share a signature.
  if (!/^[\w-]+$/.test(id))
    throw new AppError(ERRORS.INTERNAL, `"${id}" cannot be a webhook-id`, { retryable: false })
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${content}`)
    return `v1,${hmac.digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** Base64, with or without the prefix. Node would skip what is not, and sign with another key than the receiver has. */
function keyOf(secret: string): Buffer {
  const text = secret.replace(/^whsec_/, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new AppError(ERRORS.INTERNAL, 'a webhook secret must be base64', { retryable: false })
  return Buffer.from(text, 'base64')
}
