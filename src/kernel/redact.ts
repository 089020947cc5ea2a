/** Keys whose values never reach a log line, however they are spelt: `api_key`, `apiKey` and `API-Key` are one. */
const SECRETS = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'apikey',
  'xapikey',
  'webhooksecret',
  'admintoken',
  'token',
  'ticket',
  'password',
  'secret',
  'secretaccesskey',
  'sourceheaders',
])

export const REDACTED = '[redacted]'

/**
 * A copy without secrets, at whatever depth. Only plain objects and lists are gone through: what is an instance of
 * something (a request, an error) is for its serializer to put into plain words first.
 */
export function redact<T>(value: T, above: readonly object[] = []): T {
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) return '[circular]' as T
  const path = [...above, value]
  if (Array.isArray(value)) return value.map((item) => redact(item, path)) as T
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isSecret(key) ? REDACTED : redact(item, path)]),
  ) as T
}

function isSecret(key: string): boolean {
  return SECRETS.has(key.toLowerCase().replaceAll(/[-_]/g, ''))
}
