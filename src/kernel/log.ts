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
