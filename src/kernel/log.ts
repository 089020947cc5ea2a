import { type Logger, pino } from 'pino'

export type Log = Logger

/** Keys whose values never reach a log line, wherever they stand. */
const SECRETS = [
  'authorization',
  'cookie',
  'api_key',
  'webhook_secret',
  'admin_token',
  'token',
  'ticket',
  'password',
  'secret',
  'source_headers',
]

export interface LogOptions {
  level: string
  /** Where lines go; standard output when missing. */
  destination?: { write(line: string): void }
}

export function createLog({ level, destination }: LogOptions): Log {
  const paths = SECRETS.flatMap((key) => [key, `*.${key}`, `*.headers.${key}`])
  return pino(
    { level, base: null, redact: { paths, censor: '[redacted]' } },
    destination ?? pino.destination(1),
  )
}
