import { type Logger, pino, stdSerializers } from 'pino'
import { REDACTED, redact } from './redact.ts'

export type Log = Logger

/** What serializers make of requests and the like is redacted by pino itself, which takes paths only. */
const SERIALIZED = ['authorization', 'cookie', '["set-cookie"]', '["x-api-key"]'].flatMap((key) => {
  const step = key.startsWith('[') ? key : `.${key}`
  return [`*${step}`, `*.headers${step}`]
})

export interface LogOptions {
  level: string
  /** Where lines go; standard output when missing. */
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
    destination ?? pino.destination(1),
  )
  // Children inherit this; pino has no formatter for their bindings.
  const child = log.child
  log.child = function redacted(this: Log, bindings: object, options?: object) {
    return child.call(this, redact(bindings), options as never)
  } as typeof log.child
  return log
}
