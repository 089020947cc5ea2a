import { type Logger, pino, stdSerializers } from 'pino'

export type Log = Logger

/** What serializers make of requests and the like is redacted by pino itself, which takes paths only. */
const SERIALIZED = ['authorization', 'cookie', '["set-cookie"]', '["x-api-key"]'].flatMap((key) => {
  const step = key.startsWith('[') ? key : `.${key}`
  return [`*${step}`, `*.headers${step}`]
})

export interface LogOptions {
  level: string
  /** Where lines go; standard output when missing, which shows them for people when it is a terminal. */
  destination?: { write(line: string): void }
}

export function createLog({ level, destination }: LogOptions): Log {
  const log = pino(
    {
      level,
      base: null,
      redact: { paths: SERIALIZED, censor: REDACTED },
      formatters: { log: (object) => redact(object) },
      serializers: { err: (error) => redact({ ...stdSerializers.err(error) }) },
    },
    destination ??
      (process.stdout.isTTY
        ? { write: (line) => process.stdout.write(forPeople(line)) }
        : pino.destination(1)),
  )
  // Children inherit this; pino has no formatter for their bindings.
  const child = log.child
  log.child = function redacted(this: Log, bindings: object, options?: object) {
    return child.call(this, redact(bindings), options as never)
  } as typeof log.child
  return log
}

/** One line of the log as a person reads it: time, level, message, the rest as JSON; a stack on lines of its own. */
export function forPeople(line: string): string {
  const { time, level, msg = '', err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const at = new Date(Number(time)).toTimeString().slice(0, 8)
  const name = (pino.levels.labels[Number(level)] ?? String(level)).toUpperCase().padEnd(5)
  const { stack, message, ...more } = (err ?? {}) as { stack?: string; message?: string }
  const all = { ...rest, ...(Object.keys(more).length > 0 && { err: more }) }
  const details = Object.keys(all).length > 0 ? ` ${JSON.stringify(all)}` : ''
  const trace = (stack ?? message) === undefined ? '' : `\n${stack ?? message}`
  return `${at} ${name} ${msg}${details}${trace}\n`
}

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

const REDACTED = '[redacted]'

/**
 * A copy without secrets, at whatever depth. Only plain objects and lists are gone through: what is an instance of
 * something (a request, an error) is for its serializer to put into plain words first.
 */
function redact<T>(value: T, above: readonly object[] = []): T {
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
